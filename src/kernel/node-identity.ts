/** This running instance. A restart is another node: it must never take its predecessor's leases for its own. */
export abstract class NodeIdentity {
  /** Host or pod name and a random part per process start. */
  abstract readonly id: string;
}
