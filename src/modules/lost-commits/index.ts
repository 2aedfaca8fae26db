export { AdmitLanes } from './application/admit-lanes.js';
export { CommittedCursors } from './application/committed-cursors.js';
export { ReconcileSigner, type Reconciliation } from './application/reconcile-signer.js';
