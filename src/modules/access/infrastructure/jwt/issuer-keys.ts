import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { Agent } from 'undici';
import { AuthConfig, NodeConfig } from '../../../../config/lockstep-config.js';
import { Clock } from '../../../../kernel/clock.js';
import { messageOf } from '../../../../kernel/errors.js';
import { Log } from '../../../../platform/logging/log.js';
import type { Ticker } from '../../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../../platform/scheduling/tickers.js';

/** A key that the issuer has taken away is refused after this time. */
const READ_EVERY_MS = 60_000;
/** While the issuer does not answer, its keys are good for so long. */
const MAX_AGE_MS = 3_600_000;
/** From one read that a token asks for to the next: whoever makes tokens up does not have the issuer asked more often. */
const COOL_DOWN_MS = 5_000;
/** For the whole answer: a request may wait for it. */
const TIMEOUT_MS = 5_000;
/** A key has about 400 bytes, or 2 kB with its certificate. */
const MAX_BYTES = 256 * 1024;

/** Finds the key of a token. Another one after each change of the keys. */
export type KeyOf = JWTVerifyGetKey;

interface Held {
  readonly keyOf: KeyOf;
  readonly text: string;
  readonly readAtMs: number;
}

/** The issuer does not say whether it has the key of a token. */
export class KeysNotRead extends Error {}

/**
 * The public keys of the issuer, in memory: read at the start, every minute, and for a token of a key that is not among them, which is how a
 * rotation is noticed at once. What others than the issuer make up costs a read every few seconds, and tokens of known keys never wait.
 */
@Injectable()
export class IssuerKeys implements OnApplicationBootstrap, OnModuleDestroy {
  private held: Held | null = null;
  private reading: Promise<void> | null = null;
  private startedAtMs = -Infinity;
  private hasFailed = false;
  private readonly agent = new Agent({ connect: { timeout: TIMEOUT_MS }, maxResponseSize: MAX_BYTES });
  private readonly ticker: Ticker;

  constructor(
    private readonly config: AuthConfig,
    private readonly role: NodeConfig,
    private readonly clock: Clock,
    private readonly log: Log,
    tickers: Tickers,
  ) {
    this.ticker = tickers.create({ name: 'issuer-keys', intervalMs: READ_EVERY_MS, run: () => this.read() });
  }

  /** null when none were read for too long. */
  current(): KeyOf | null {
    const { held } = this;
    return held === null || this.clock.monotonicMs() - held.readAtMs > MAX_AGE_MS ? null : held.keyOf;
  }

  /** @throws KeysNotRead; an error of jose when there is no such key */
  async keyOf(...of: Parameters<KeyOf>): Promise<Awaited<ReturnType<KeyOf>>> {
    try {
      const known = await this.current()?.(...of);
      if (known !== undefined) return known;
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await this.readUnlessJustRead();
    const keyOf = this.current();
    if (this.hasFailed || keyOf === null) throw new KeysNotRead();
    return keyOf(...of);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.config.mode !== 'jwt' || !this.role.serves) return;
    await this.read();
    this.ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.ticker.stop();
    await this.agent.destroy();
  }

  private async readUnlessJustRead(): Promise<void> {
    if (this.reading === null && this.clock.monotonicMs() - this.startedAtMs < COOL_DOWN_MS) return;
    await this.read();
  }

  /** Those who come while it reads wait for the same answer. */
  private read(): Promise<void> {
    this.reading ??= this.readNow().finally(() => (this.reading = null));
    return this.reading;
  }

  private async readNow(): Promise<void> {
    const readAtMs = this.clock.monotonicMs();
    this.startedAtMs = readAtMs;
    try {
      const text = await this.fetchText();
      const keyOf = text === this.held?.text ? this.held.keyOf : createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
      this.held = { keyOf, text, readAtMs };
      if (this.hasFailed) this.log.info('the keys of the issuer of tokens are read again');
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed)
        this.log.warn('failed to read the keys of the issuer of tokens', { error: messageOf(error) });
      this.hasFailed = true;
    }
  }

  private async fetchText(): Promise<string> {
    const { origin, pathname, search } = new URL(this.config.jwt.jwksUrl ?? '');
    const { statusCode, body } = await this.agent.request({
      origin,
      path: `${pathname}${search}`,
      method: 'GET',
      headers: { accept: 'application/jwk-set+json, application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the answer has status ${statusCode}`);
    return text;
  }
}
