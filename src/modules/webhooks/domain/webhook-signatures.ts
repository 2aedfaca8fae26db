/** Signatures by which a receiver knows that a webhook is ours: Standard Webhooks 1.0, symmetric. */
export abstract class WebhookSignatures {
  /** A new secret, `whsec_` and the Base64 of random bytes. To be shown once. */
  abstract newSecret(): string;

  /** One signature for each secret, so that a receiver which has only one of them can check. */
  abstract headersOf(webhook: UnsignedWebhook, secrets: readonly string[]): SignatureHeaders;
}

export interface UnsignedWebhook {
  /** The same in each try; it has no dot. */
  readonly id: string;
  /** The time of this try: receivers refuse what is older than some minutes. */
  readonly at: Date;
  /** The bytes that are sent. */
  readonly body: string;
}

export interface SignatureHeaders extends Readonly<Record<string, string>> {
  readonly 'webhook-id': string;
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string;
  /** `v1,<Base64 of the HMAC-SHA256>`, separated by spaces. */
  readonly 'webhook-signature': string;
}
