import { Injectable } from '@nestjs/common';
import { NodeIdentity } from '../../src/kernel/node-identity.js';
import { signerKey, type SignerId } from '../../src/kernel/signer-id.js';
import type { Tx } from '../../src/kernel/unit-of-work.js';
import type { ChainConnector } from '../../src/modules/chain/index.js';
import { Fence, FencedUnitOfWork, type Lease, LeaseLost, NonceLedger } from '../../src/modules/signers/index.js';
import type { SequenceState, SlotHolder } from '../../src/modules/signers/domain/nonce-ledger.js';
import { PgNonceLedger } from '../../src/modules/signers/infrastructure/pg-nonce-ledger.js';
import { BroadcastAttempts } from '../../src/modules/sending/application/broadcast-attempts.js';
import { RecoverLane } from '../../src/modules/lanes/application/resume-lanes.js';
import { SignAttempts } from '../../src/modules/sending/application/sign-attempts.js';
import { TxsInFlight } from '../../src/modules/ledger/domain/txs-in-flight.js';
import { Database } from '../../src/platform/database/database.js';
import { PgTx } from '../../src/platform/database/pg-tx.js';
import type { PlantedBug } from './planted-bug.js';
import { FAIRNESS_BUGS } from './planted-fairness-bugs.js';
import { PRICE_BUGS } from './planted-price-bugs.js';
import { QUEUE_BUGS } from './planted-queue-bugs.js';
import { TRUST_BUGS } from './planted-trust-bugs.js';
import { WORLD_BUGS } from './planted-world-bugs.js';

class OpenFence extends Fence {
  protected readonly leases: ReadonlyMap<string, Lease>;

  constructor(
    readonly tx: Tx,
    readonly nodeId: string,
    leases: readonly Lease[],
  ) {
    super();
    this.leases = new Map(leases.map((lease) => [signerKey(lease.signer), lease]));
  }
}

/** Believes whoever says that it holds a lease. */
@Injectable()
class NoFence extends FencedUnitOfWork {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
  ) {
    super();
  }

  run<T>(leases: readonly Lease[], _operation: string, work: (fence: Fence) => Promise<T>): Promise<T> {
    return this.database.transaction((tx) => work(new OpenFence(tx, this.node.id, leases)));
  }
}

/** The obvious shape of design section 5: reads the lease, and locks nothing. */
@Injectable()
class UnlockedFence extends NoFence {
  override run<T>(leases: readonly Lease[], operation: string, work: (fence: Fence) => Promise<T>): Promise<T> {
    return super.run(leases, operation, async (fence) => {
      const { rowCount } = await PgTx.of(fence.tx).query(
        {
          // In the place of the real one, for the simulator to stop it there.
          name: 'fence_lock_leases_without_lock',
          text: `SELECT FROM signer_lease l JOIN unnest($1::text[], $2::bigint[]) AS h (signer, token) ON l.signer = h.signer AND l.fencing_token = h.token
                  WHERE l.owner_node = $3 AND l.expires_at > clock_timestamp()`,
        },
        [leases.map(({ signer }) => signer.address), leases.map(({ token }) => token), fence.nodeId],
      );
      if (rowCount !== leases.length) throw new LeaseLost(leases, operation);
      return work(fence);
    });
  }
}

/** Knows the next nonce by heart, and takes slots whatever they are. */
@Injectable()
class ForgetfulLedger extends PgNonceLedger {
  private readonly kept = new Map<string, bigint>();

  override async read(fence: Fence, signers: readonly SignerId[], maxReleased: number): Promise<SequenceState[]> {
    const states = await super.read(fence, signers, maxReleased);
    return states.map((state) => ({ ...state, cursor: this.kept.get(signerKey(state.signer)) ?? state.cursor }));
  }

  override async hold(
    fence: Fence,
    slots: readonly SlotHolder[],
    kept: readonly { readonly from: SequenceState; readonly to: bigint }[],
  ): Promise<void> {
    const tx = PgTx.of(fence.tx);
    for (const { signer, nonce, txId } of slots)
      await tx.query(
        {
          name: 'unguarded_hold',
          text: `INSERT INTO signer_nonce_allocation (chain_id, signer, nonce, status, tx_id, fencing_token) VALUES ($1, $2, $3, 'HELD', $4, $5)
                     ON CONFLICT (chain_id, signer, nonce) DO UPDATE SET status = 'HELD', tx_id = excluded.tx_id, fencing_token = excluded.fencing_token`,
        },
        [signer.chainId, signer.address, nonce, txId, fence.tokenFor(signer)],
      );
    for (const { from, to } of kept) {
      await tx.query(
        {
          name: 'unguarded_cursor',
          text: `UPDATE signer_nonce_cursor SET next_nonce = $2, fencing_token = $3 WHERE signer = $1`,
        },
        [from.signer.address, to, fence.tokenFor(from.signer)],
      );
      this.kept.set(signerKey(from.signer), to);
    }
  }
}

/** Signs everything anew that it does not know the fate of, with the fees of the day. */
@Injectable()
class SigningRecovery {
  constructor(
    private readonly inFlight: TxsInFlight,
    private readonly sign: SignAttempts,
    private readonly broadcast: BroadcastAttempts,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<void> {
    const left = await this.inFlight.allocated(leases.map(({ signer }) => signer));
    if (left.length === 0) return;
    await this.broadcast.execute(chain, leases, await this.sign.execute(await chain.feeQuote(), leases, left));
  }
}

/** Puts everything back in the queue that it does not know the fate of: its payload gets another nonce. */
@Injectable()
class RequeueingRecovery {
  constructor(private readonly unitOfWork: FencedUnitOfWork) {}

  async execute(_chain: ChainConnector, leases: readonly Lease[]): Promise<void> {
    await this.unitOfWork.run(leases, 'requeue', async (fence) => {
      for (const { signer, token } of leases)
        await PgTx.of(fence.tx).query(
          {
            name: 'requeue',
            text: `WITH gone AS (UPDATE managed_tx SET state = 'PENDING', nonce = NULL, version = version + 1, next_resubmit_at = NULL
                                  WHERE signer = $1 AND state = 'ALLOCATED' RETURNING tx_id, chain_id),
                        freed AS (UPDATE signer_nonce_allocation s SET tx_id = NULL, fencing_token = $2 FROM gone WHERE s.tx_id = gone.tx_id)
                   INSERT INTO tx_event (chain_id, tx_id, reason, from_state, to_state, node_id, fencing_token)
                   SELECT chain_id, tx_id, 'nonce_recovered', 'ALLOCATED', 'PENDING', $3, $2 FROM gone`,
          },
          [signer.address, token, fence.nodeId],
        );
    });
  }
}

/** Without a fence everything may go wrong. */
const ANY = /^(I\d+|rule 23|job): /;

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'no fence',
    from: 5,
    shows: ANY,
    sabotage: [[FencedUnitOfWork, { provide: FencedUnitOfWork, useClass: NoFence }]],
  },
  {
    name: 'a fence that reads the lease and does not lock it',
    from: 57,
    shows: ANY,
    sabotage: [[FencedUnitOfWork, { provide: FencedUnitOfWork, useClass: UnlockedFence }]],
  },
  {
    name: 'no unique slot, and a cursor kept in memory',
    from: 10,
    shows: ANY,
    sabotage: [[NonceLedger, { provide: NonceLedger, useClass: ForgetfulLedger }]],
    schema: {
      break: 'DROP INDEX managed_tx_live',
      mend: `CREATE UNIQUE INDEX managed_tx_live ON managed_tx (chain_id, signer, nonce, (coalesce(replaces, '00000000-0000-0000-0000-000000000000'::uuid))) WHERE state IN ('ALLOCATED', 'IN_MEMPOOL', 'MINED')`,
    },
  },
  {
    name: 'recovery that signs anew with other fees',
    from: 36,
    shows: ANY,
    sabotage: [[RecoverLane, { provide: RecoverLane, useClass: SigningRecovery }]],
  },
  {
    name: 'recovery that gives a payload another nonce',
    from: 2,
    shows: ANY,
    sabotage: [[RecoverLane, { provide: RecoverLane, useClass: RequeueingRecovery }]],
  },
  ...QUEUE_BUGS,
  ...PRICE_BUGS,
  ...TRUST_BUGS,
  ...WORLD_BUGS,
  ...FAIRNESS_BUGS,
];
