import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { messageOf, Unavailable } from '../../../kernel/errors.js';
import { type Hash, parseHash } from '../../../kernel/hex.js';
import { Kzg, type ProvenBlobs } from '../domain/kzg.js';
import type { KzgAnswer } from './kzg-worker.js';

/** The most requests with blobs, the running one included: each holds up to a megabyte and takes up to two seconds. */
const MAX_WAITING = 16;
/** First byte of a versioned hash: the version of KZG. */
const KZG_VERSION = '01';

/** Proves blobs with rust-eth-kzg, in a thread of its own (docs/decisions/0023-kzg.md). One request at a time. */
@Injectable()
export class NativeKzg extends Kzg implements OnApplicationShutdown {
  /** Not before the first blob: loading takes two seconds of CPU, and platforms without a binary only lose blobs. */
  private thread: Worker | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  async prove(blobs: readonly Uint8Array[], places = MAX_WAITING): Promise<ProvenBlobs> {
    if (this.waiting >= Math.min(places, MAX_WAITING))
      throw new Unavailable('blobs_busy', 'too many requests with blobs are being proven', 'try again later');
    this.waiting += 1;
    const turn = this.last.then(() => this.proveNow(blobs));
    this.last = turn.catch(() => null);
    try {
      return await turn;
    } finally {
      this.waiting -= 1;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.thread?.terminate();
  }

  private async proveNow(blobs: readonly Uint8Array[]): Promise<ProvenBlobs> {
    const answer = await this.ask(blobs);
    if ('error' in answer) throw new Error(`KZG: ${answer.error}`);
    const { proven } = answer;
    return {
      hashes: proven.map(({ commitment }) => versionedHash(commitment)),
      sidecar: {
        blobs,
        commitments: proven.map(({ commitment }) => commitment),
        blobProofs: proven.map(({ blobProof }) => blobProof),
        cellProofs: proven.map(({ cellProofs }) => cellProofs),
      },
    };
  }

  private async ask(blobs: readonly Uint8Array[]): Promise<KzgAnswer> {
    const thread = (this.thread ??= newThread());
    const answered = new AbortController();
    try {
      thread.postMessage(blobs);
      const { signal } = answered;
      const [answer] = (await Promise.race([once(thread, 'message', { signal }), ended(thread, signal)])) as [
        KzgAnswer,
      ];
      return answer;
    } catch (error) {
      this.thread = null;
      throw new Unavailable(
        'kzg_unavailable',
        `the KZG library does not run here: ${messageOf(error)}`,
        'send blobs to a Lockstep node on Linux (glibc), macOS or Windows',
      );
    } finally {
      answered.abort();
    }
  }
}

/** It keeps no process alive that has nothing else to do. */
function newThread(): Worker {
  const thread = new Worker(new URL('./kzg-worker.js', import.meta.url));
  thread.unref();
  return thread;
}

/** An error of a thread, as of one whose library does not load, rejects `once` by itself. */
async function ended(thread: Worker, signal: AbortSignal): Promise<never> {
  const [code] = (await once(thread, 'exit', { signal })) as [number];
  throw new Error(`its thread ended with code ${code}`);
}

function versionedHash(commitment: Uint8Array): Hash {
  return parseHash(`0x${KZG_VERSION}${createHash('sha256').update(commitment).digest('hex').slice(2)}`);
}
