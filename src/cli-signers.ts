import { Registry } from 'prom-client';
import type { LockstepConfig } from './config/index.js';
import { messageOf } from './kernel/errors.js';
import { type ChainId, signerKey } from './kernel/signer-id.js';
import { ConfiguredChains } from './modules/chain/index.js';
import { CheckSigners, CustodyAttemptSigner, type SignerCheck } from './modules/sending/index.js';
import { CheckedCustody, type Custody, PgNonceLedger, PgSignerDirectory } from './modules/signers/index.js';
import type { Database } from './platform/database/database.js';
import { PinoLog } from './platform/logging/pino-log.js';
import { Metrics } from './platform/metrics/metrics.js';
import { answeredWithin, realPause } from './platform/scheduling/pause.js';
import { SystemClock } from './platform/system-clock.js';

/** For the keys of one entry: services are asked for their addresses, and keystores are unlocked. */
const OPENED_WITHIN_MS = 30_000;

/** An entry of `chains[].signers` that told no accounts. */
interface Unopened {
  readonly chainId: ChainId;
  readonly type: string;
  readonly problem: string;
}

type Finding = SignerCheck | Unopened;

/** @param print gets a line for each signer. @returns whether nothing is wrong */
export async function checkSigners(
  config: LockstepConfig,
  database: Database,
  isJson: boolean,
  print: (line: string) => void,
): Promise<boolean> {
  const clock = new SystemClock();
  const log = PinoLog.create('error', process.stderr);
  const metrics = new Metrics(new Registry(), config);
  const chains = new ConfiguredChains(config, metrics, clock, log);
  const signerOf = (custody: Custody) => new CustodyAttemptSigner(custody);
  const checkOf = (custody: Custody) =>
    new CheckSigners(chains, signerOf, new PgSignerDirectory(database), new PgNonceLedger(database, custody), clock);
  const tools = { metrics, clock, pause: realPause, log };
  const seen = new Set<string>();
  let isRight = true;
  try {
    for (const { id, signers } of config.chains)
      for (const entry of signers) {
        const opening = CheckedCustody.open({ chains: [{ id, signers: [entry] }] }, tools);
        const findings = await answeredWithin(realPause, OPENED_WITHIN_MS, opening).then(
          (custody): Finding[] | Promise<Finding[]> =>
            custody
              ? checkOf(custody).execute(id, custody)
              : [{ chainId: id, type: entry.type, problem: `its custody told no accounts in ${OPENED_WITHIN_MS} ms` }],
          (error: unknown) => [
            { chainId: id, type: entry.type, problem: `its custody tells no accounts: ${messageOf(error)}` },
          ],
        );
        for (const found of findings) {
          const finding = onceOnly(found, seen);
          isRight &&= problemsOf(finding).length === 0;
          print(isJson ? jsonOf(finding) : wordsOf(finding));
        }
      }
  } finally {
    await chains.close();
  }
  return isRight;
}

/** A node that has an account twice does not start: one of its policies would be lost. */
function onceOnly(finding: Finding, seen: Set<string>): Finding {
  if ('problem' in finding) return finding;
  const key = signerKey(finding.signer);
  if (!seen.has(key)) return (seen.add(key), finding);
  return { ...finding, problems: [...finding.problems, 'it is named twice: no node starts with this config'] };
}

function problemsOf(finding: Finding): readonly string[] {
  return 'problem' in finding ? [finding.problem] : finding.problems;
}

function jsonOf(finding: Finding): string {
  const problems = problemsOf(finding);
  const whole = 'problem' in finding ? { chainId: finding.chainId, custody: { type: finding.type } } : flat(finding);
  return JSON.stringify({ isRight: problems.length === 0, ...whole, problems }, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

function flat({ signer, custody, signedInMs, note, balance, nonces }: SignerCheck): object {
  return { ...signer, custody, signedInMs, note, balance, nonces };
}

function wordsOf(finding: Finding): string {
  const problems = problemsOf(finding);
  const mark = problems.length === 0 ? 'ok  ' : 'FAIL';
  if ('problem' in finding) return `${mark} ${finding.chainId} ${finding.type}: ${finding.problem}`;
  const { signer, custody, signedInMs, note, balance, nonces } = finding;
  const { latest, pending, next } = nonces;
  const facts = [
    note,
    signedInMs === null ? null : `a test signature recovers (${signedInMs.toFixed(0)} ms)`,
    balance === null ? null : `balance ${balance} wei`,
    latest === null ? null : `nonce ${latest}, pending ${pending ?? '?'}, next here ${next ?? 'none yet'}`,
    ...problems,
  ];
  const key = [custody.type, custody.path ?? custody.keyId ?? custody.url].filter(Boolean).join(' ');
  return `${mark} ${signerKey(signer)} ${key}: ${facts.filter(Boolean).join('; ')}`;
}
