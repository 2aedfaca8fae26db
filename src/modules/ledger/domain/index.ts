/* What the domains of other modules use of this one when they run. It loads no package; the module's own door does. */
export { mayBeInPool } from './attempt.js';
export { withoutPermits } from './permit.js';
export { NO_FEES, noOpPayload } from './tx-request.js';
