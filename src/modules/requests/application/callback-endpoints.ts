/** A webhook endpoint that a request of an account names. */
export interface Callback {
  readonly endpointId: string;
  readonly account: string;
}

/** The webhook endpoints that requests may name. */
export abstract class CallbackEndpoints {
  /** Whether the account has it, for each, in the given order. */
  abstract exist(callbacks: readonly Callback[]): Promise<boolean[]>;
}
