import type { DeliveryStatus } from '../domain/delivery.js';

export abstract class WebhookMetrics {
  /** One post and what became of its delivery. */
  abstract recorded(endpointId: string, status: DeliveryStatus): void;
  abstract posted(seconds: number): void;
}
