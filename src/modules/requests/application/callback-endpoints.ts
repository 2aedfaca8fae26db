/** The webhook endpoints that requests may name. */
export abstract class CallbackEndpoints {
  /** @returns those of them that the account has */
  abstract existing(endpointIds: readonly string[], account: string): Promise<ReadonlySet<string>>;
}
