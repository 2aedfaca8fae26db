import type { Actor } from '../../../kernel/audit-log.js';
import type { Caller, Viewer } from '../../../kernel/caller.js';
import type { EndpointSettings, WebhookEndpoint } from './webhook-endpoint.js';

export interface NewEndpoint extends EndpointSettings {
  readonly id: string;
  /** The id of the account that it belongs to. */
  readonly account: string;
  /** Encrypted, as it is in all of this. */
  readonly secret: string;
}

/** What changes; what is left out stays. */
export interface EndpointChange extends Partial<EndpointSettings> {
  readonly enabled?: boolean;
}

/** The secrets of an endpoint that sign now, the newest first. */
export interface StoredSecrets {
  readonly id: string;
  readonly secrets: readonly string[];
}

/** The endpoints that clients have created and not deleted. What the viewer may not see does not exist. What callers change is recorded in the audit log. */
export abstract class WebhookEndpoints {
  /**
   * It gets every event that is committed after this.
   * @param most how many its account may have; can be infinite
   * @returns null when it has as many, and nothing was added
   */
  abstract add(endpoint: NewEndpoint, most: number, by: Actor): Promise<WebhookEndpoint | null>;
  abstract find(id: string, viewer: Viewer): Promise<WebhookEndpoint | null>;
  /** Newest first, older than `beforeId`. */
  abstract list(beforeId: string | null, limit: number, viewer: Viewer): Promise<WebhookEndpoint[]>;
  /** @returns null when there is no such endpoint. @throws Forbidden `outside_limits` */
  abstract change(id: string, change: EndpointChange, caller: Caller): Promise<WebhookEndpoint | null>;
  /** Completes changes that stopped half-way, because nobody may repeat them. `most`: endpoints. */
  abstract completeChanges(most: number): Promise<void>;
  /**
   * @param keepMs how long the secret of now goes on signing, and those before it until their own ends; 0 ends them all
   * @returns null when there is no such endpoint
   * @throws TooManySecrets
   */
  abstract rotateSecret(id: string, secret: string, keepMs: number, caller: Caller): Promise<WebhookEndpoint | null>;
  /** Those that sign now, the newest first; none when there is no such endpoint. */
  abstract secretsOf(id: string): Promise<readonly string[]>;
  /** Some endpoints, in any order, with a secret that signs and does not begin with `prefix`; null stands for all. */
  abstract notEncryptedAs(prefix: string | null, most: number): Promise<readonly StoredSecrets[]>;
  /** @returns false, and changes nothing, when its secrets are others by now */
  abstract replaceSecrets(stored: StoredSecrets, by: readonly string[]): Promise<boolean>;
  /** @returns false when there is no such endpoint */
  abstract remove(id: string, caller: Caller): Promise<boolean>;
  /** Changes nothing for one that is disabled already, or that has another URL than `onlyAt`. */
  abstract disable(id: string, reason: string, onlyAt?: string): Promise<void>;
  abstract setFailing(id: string, isFailing: boolean): Promise<void>;
}
