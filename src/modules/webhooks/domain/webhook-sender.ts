/** Sends one webhook to its URL, once, and to no address that is not allowed. */
export abstract class WebhookSender {
  /** Throws only when it is called inside a database transaction (I11); everything that goes wrong with the post is in the answer. */
  abstract send(shipment: Shipment): Promise<Answer>;
}

export interface Shipment {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What became of one post. The receiver accepted it when `status` is 200 to 299 and `error` is null. */
export interface Answer {
  /** Of HTTP; null when no answer began. */
  readonly status: number | null;
  /** The first kilobyte of the answer's body: valid UTF-8 without NUL, which PostgreSQL does not store. */
  readonly body: string;
  /**
   * What went wrong before or after the status, or null: a stable code, a colon, and plain words. `address_refused`, `invalid_webhook_url`,
   * `dns`, `connection`, `tls`, `timeout`, `redirect`, `http` (the answer is not valid HTTP) and `failed` (anything else).
   */
  readonly error: string | null;
  /** How long the receiver asks to wait (`Retry-After`), at most a day; null when it does not. */
  readonly retryAfterMs: number | null;
  /** From the start of the post to the end of the answer. Milliseconds. */
  readonly durationMs: number;
}
