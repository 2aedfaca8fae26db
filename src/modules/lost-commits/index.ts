export { AdmitLanes } from './application/admit-lanes.js';
export { AdoptSent } from './application/adopt-sent.js';
export { CommittedCursors } from './application/committed-cursors.js';
export { type Compared, CompareBooks } from './application/compare-books.js';
export { ExecutedAfterAll, isLaterSuccess, type LaterSuccess } from './application/executed-after-all.js';
export { HoldBehind } from './application/hold-behind.js';
export { Findings } from './application/findings.js';
export { ReconcileSigner, type Reconciliation } from './application/reconcile-lanes.js';
export { SignerInDoubt, SignersInDoubt } from './application/signers-in-doubt.js';
