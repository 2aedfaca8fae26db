import { Choice } from '../config-fields.js';

export type AuthMode = 'apiKeys' | 'none';

/** How a node knows who calls. */
export class AuthConfig {
  /** `apiKeys`: keys that `lockstep keys create` or the API made. `none`: anybody who reaches the port may do everything. */
  @Choice(['apiKeys', 'none'])
  mode: AuthMode = 'apiKeys';
}
