/** The webhook endpoints that requests may name. */
export abstract class CallbackEndpoints {
  /** @returns those of them that are there */
  abstract existing(endpointIds: readonly string[]): Promise<ReadonlySet<string>>;
}
