// Declares the setting of the MTA-STS policy, which relies on certificates; variables.ts joins it with the others.
import { oneOf } from './values.js';
import { variable } from './variable.js';

export const certificates = {
  mtaStsMode: variable(
    'MANSIO_MTA_STS_MODE',
    'testing',
    oneOf('off', 'testing', 'enforce'),
    'Mode of the [MTA-STS policy](certificates.md#mta-sts) of hosted domains.',
  ),
};
