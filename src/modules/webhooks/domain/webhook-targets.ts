/** Knows which URLs webhooks may be sent to. */
export abstract class WebhookTargets {
  /**
   * What is known without asking DNS: names are checked when a connection is made. The URL is canonical, so its `href` is what to store.
   * @throws InvalidInput `invalid_webhook_url`
   */
  abstract checkedUrl(url: string): URL;
}
