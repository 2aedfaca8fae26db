import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { NodeIdentity } from '../../kernel/node-identity.js';

/** `<host or pod name>-<random>`: the random part makes a restarted process a new node. */
export class ProcessIdentity extends NodeIdentity {
  readonly id = `${hostname()}-${randomBytes(4).toString('hex')}`;
}
