/** An account that is not disabled. */
export interface LiveAccount {
  readonly id: string;
  /** Tokens name it. */
  readonly name: string;
}

export abstract class LiveAccounts {
  abstract all(): Promise<LiveAccount[]>;
}
