import test from 'ava';
import { localTransport } from '../../../src/actors/runtime/transport-local.js';
import { transportContract } from './transport-contract.js';

transportContract(test, 'in-process', async () => localTransport());
transportContract(test, 'in-process, encoding', async () => localTransport({ encoding: true }));
