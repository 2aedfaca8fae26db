import { isFinal, TRANSITIONS, TX_STATES, type TxState } from '../../src/modules/ledger/domain/tx-state-machine.js';

/** The transition table as a Mermaid diagram, for docs/state-machine.md. */
export function stateDiagram(): string {
  const arrows = TX_STATES.flatMap((from) =>
    TRANSITIONS[from].map((to: TxState) => `  ${from} --> ${to}${isFinal(from) ? ': deep reorg' : ''}`),
  );
  const ends = TX_STATES.filter(isFinal).map((state) => `  ${state} --> [*]`);
  return ['```mermaid', 'stateDiagram-v2', '  [*] --> PENDING', ...arrows, ...ends, '```'].join('\n');
}
