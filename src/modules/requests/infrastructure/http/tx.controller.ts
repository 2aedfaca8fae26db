import { Body, Controller, Get, Headers, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseHash } from '../../../../kernel/hex.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { leaveSignal } from '../../../../platform/http/leave-signal.js';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS } from '../../../../platform/http/page-query.dto.js';
import { callerOf, MayLast, Scope, senderOf, waitsForState } from '../../../../platform/http/scope.js';
import { Chains } from '../../../chain/index.js';
import { type HistoryEntry, MAX_HISTORY_PAGE, TxHistory } from '../../../events/index.js';
import { CreateNow } from '../../application/create-now.js';
import { CreateTx, type CreatedTx } from '../../application/create-tx.js';
import { ProveBlobs } from '../../application/prove-blobs.js';
import { type AttemptView, TxQueries, type TxView } from '../../../ledger/index.js';
import { CreationLimits } from '../../application/creation-limits.js';
import { StoredRequests } from '../../application/stored-requests.js';
import { WaitForState } from '../../application/wait-for-state.js';
import { acceptedStatus, acceptedView, chainOf } from './accepted-tx.js';
import { CREATE_TX_EXAMPLES } from './create-tx.examples.js';
import { CreateTxDto } from './create-tx.dto.js';
import { findTx, foundTx, TX_ID } from './found-tx.js';
import { toBlobs } from './to-blobs.js';
import { ApiIdempotencyKey } from './request-id.js';
import { toRequest } from './to-request.js';
import {
  ByRequestQueryDto,
  DEFAULT_WAIT_MS,
  HISTORY_PLACE,
  HistoryQueryDto,
  ListQueryDto,
  WaitQueryDto,
} from './tx-query.dto.js';
import { AcceptedTxDto, AttemptListDto, HistoryDto, TxDto, TxPageDto } from './tx-responses.js';

const PATH = '/api/v1/tx';

@ApiTags('transactions')
@Controller('api/v1/tx')
export class TxController {
  constructor(
    private readonly proveBlobs: ProveBlobs,
    private readonly createTx: CreateTx,
    private readonly createNow: CreateNow,
    private readonly queries: TxQueries,
    private readonly history: TxHistory,
    private readonly wait: WaitForState,
    private readonly chains: Chains,
    private readonly creationLimits: CreationLimits,
    private readonly stored: StoredRequests,
  ) {}

  @Post()
  @Scope('tx:write')
  @ApiOperation({
    operationId: 'createTx',
    summary: 'Submit a transaction',
    description:
      'Lockstep stores the request before it answers. A repeated request with the same requestId is never sent twice.',
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: CreateTxDto, examples: CREATE_TX_EXAMPLES })
  @ApiResponse({ status: 202, type: AcceptedTxDto, description: 'Accepted' })
  @ApiResponse({ status: 200, type: AcceptedTxDto, description: 'The same request was stored before' })
  async create(
    @Body() body: CreateTxDto,
    @Headers() headers: Readonly<Record<string, string | undefined>>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedTxDto | string> {
    const chainId = chainOf(this.chains, body.chainId);
    const wanted = toRequest(body, chainId, headers['idempotency-key'], callerOf(request));
    const isRepeated = this.stored.lookUp(wanted);
    // The node that forwarded it has counted it.
    if (!senderOf(request).wasForwarded) await this.creationLimits.admit(wanted, isRepeated);
    const asked = await this.proveBlobs.execute(wanted, toBlobs(body.payload.blobs ?? []));
    if (body.allocate !== 'now') return accepted(await this.createTx.execute(asked, isRepeated), reply);
    // The owner gets the key in the body, because it may have come in a header, and the chain by its id.
    const original = { ...(request.body as object), chainId, requestId: asked.requestId };
    const result = await this.createNow.execute(asked, isRepeated, {
      path: PATH,
      body: original,
      ...senderOf(request),
    });
    if (result.kind === 'created') return accepted(withView(result.tx, result.view), reply);
    void reply.status(result.answer.status).headers(result.answer.headers);
    return result.answer.body;
  }

  @Get()
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listTxs',
    summary: 'List transactions, newest first',
    description:
      'A page has fewer than `limit` items if they would be longer than about 1 MB; `nextCursor` leads to the rest. The no-ops that Lockstep sends to ' +
      'fill nonce gaps are listed only with `kind=fill`, and the nonces of outside senders with `kind=hold`.',
  })
  @ApiResponse({ status: 200, type: TxPageDto })
  async list(@Query() query: ListQueryDto, @Req() request: FastifyRequest): Promise<Page<TxView>> {
    const filter = {
      limit: query.limit ?? DEFAULT_PAGE_ITEMS,
      kind: query.kind ?? 'payload',
      ...(query.chainId === undefined ? {} : { chainId: query.chainId }),
      ...(query.signer === undefined ? {} : { signer: clientAddress(query.signer, query.chainId) }),
      ...(query.state === undefined ? {} : { state: query.state }),
      ...(query.cursor === undefined ? {} : { before: decodeCursor(query.cursor, TX_ID) }),
    };
    const { items, nextBefore } = await this.queries.list(filter, callerOf(request));
    return { items, nextCursor: nextBefore === null ? null : encodeCursor(nextBefore) };
  }

  @Get('by-request')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'findTxByRequest',
    summary: 'Find a transaction by its idempotency key',
    description:
      'Tells after a lost answer whether a request was stored. 404: it was not, or it finished and its retention is over.',
  })
  @ApiResponse({ status: 200, type: TxDto })
  async byRequest(@Query() query: ByRequestQueryDto, @Req() request: FastifyRequest): Promise<TxView> {
    const chainId = chainOf(this.chains, query.chainId);
    const signer = { chainId, address: clientAddress(query.signer, chainId) };
    return foundTx(await this.queries.findByRequest(signer, query.requestId, callerOf(request)));
  }

  @Get(':txId')
  @Scope('tx:read')
  @MayLast(waitsForState)
  @ApiOperation({
    operationId: 'getTx',
    summary: 'Get a transaction',
    description:
      'With `waitFor` the request waits until the transaction has reached or passed that state, at most `timeoutMs`, and returns its state then. At most ' +
      '10,000 requests can wait at one node; further ones get 429. While the database is unavailable the request waits on, and returns 503 ' +
      'if it is still unavailable after `timeoutMs`.',
  })
  @ApiResponse({ status: 200, type: TxDto })
  async get(
    @Param('txId') txId: string,
    @Query() { waitFor, timeoutMs = DEFAULT_WAIT_MS }: WaitQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TxView> {
    const left = leaveSignal(reply);
    const tx = await this.find(txId, request);
    if (waitFor === undefined) return tx;
    await this.wait.execute(tx.txId, waitFor, timeoutMs, left);
    // The client has left, so no newer state is read.
    return left.aborted ? tx : this.find(txId, request);
  }

  @Get(':txId/history')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listTxHistory',
    summary: 'List the audit trail of a transaction, oldest entry first',
    description:
      'Every change of its state and its attempts, with the node that made it, its fencing token, who asked for it, and why.',
  })
  @ApiResponse({ status: 200, type: HistoryDto })
  async historyOf(
    @Param('txId') txId: string,
    @Query() query: HistoryQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<Page<HistoryEntry>> {
    const limit = query.limit ?? MAX_HISTORY_PAGE;
    const after = query.cursor === undefined ? '0' : decodeCursor(query.cursor, HISTORY_PLACE);
    const tx = await this.find(txId, request);
    const entries = await this.history.of(tx.txId, { after, limit: limit + 1 });
    return pageOf(entries, limit, ({ seq }) => encodeCursor(seq));
  }

  @Get(':txId/attempts')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listTxAttempts',
    summary: 'List the signed attempts of a transaction, oldest first',
    description:
      'Everything that was signed for it, with fees and gas, how often it was sent, and what nodes said last. One page.',
  })
  @ApiResponse({ status: 200, type: AttemptListDto })
  async attemptsOf(@Param('txId') txId: string, @Req() request: FastifyRequest): Promise<Page<AttemptView>> {
    const tx = await this.find(txId, request);
    return { items: await this.queries.attempts(tx.txId), nextCursor: null };
  }

  private find(txId: string, request: FastifyRequest): Promise<TxView> {
    return findTx(txId, (id) => this.queries.find(id, callerOf(request)));
  }
}

function accepted(tx: CreatedTx, reply: FastifyReply): AcceptedTxDto {
  void reply.status(acceptedStatus(tx));
  return acceptedView(tx);
}

/** Adds the state that the tx reached while the request waited for its nonce. */
function withView(tx: CreatedTx, view: TxView | null): CreatedTx {
  if (view === null) return tx;
  const { state, nonce, txHash, contractAddress } = view;
  return {
    ...tx,
    state,
    nonce: nonce === null ? null : BigInt(nonce),
    txHash: txHash === null ? null : parseHash(txHash),
    contractAddress,
  };
}
