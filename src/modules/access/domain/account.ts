/** Who owns keys, and what is made with them. */
export interface Account {
  readonly id: string;
  /** For people and config; never changes. */
  readonly name: string;
  /** Its keys cannot be used while it is disabled. */
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function isAccountName(text: string): boolean {
  return NAME.test(text);
}
