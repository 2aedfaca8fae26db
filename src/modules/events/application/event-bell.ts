/** Tells readers on all nodes that there may be new events. A lost ring costs a polling interval. */
export abstract class EventBell {
  /** After a commit that wrote events. Cheap, and never throws. */
  abstract ring(): void;
  /** @returns how to stop it */
  abstract listen(heard: () => void): () => void;
}
