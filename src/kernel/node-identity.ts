/** The identity of this process. A restart makes a new node, so that it never uses leases of the process before it as its own. */
export abstract class NodeIdentity {
  /** Host or pod name, and a random part for each process start. */
  abstract readonly id: string;
}
