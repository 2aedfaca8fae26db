/** What is said of a tx in one state or sub state. */
export interface Words {
  readonly why: string;
  readonly next: string;
  readonly operator?: readonly string[];
  /** Without a time: something else than the timer of the tx comes first. */
  readonly isUntimed?: boolean;
}
