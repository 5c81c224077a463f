import type { Transport } from '../../../../src/actors/runtime/transport/transport.js';
import { localTransport } from '../../../../src/actors/runtime/transport/transport-local.js';
import test from '../../../support/test.js';
import { transportContract } from './transport-contract.js';

const alone = (transport: Transport) => ({ asker: transport, owner: transport });

transportContract(test, 'in-process', async () => alone(localTransport()));
transportContract(test, 'in-process, encoding', async () => alone(localTransport({ encoding: true })));
