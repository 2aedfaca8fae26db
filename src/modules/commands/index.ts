export { SubmitCommand } from './application/submit-command.js';
export { COMMAND_KINDS, type CommandKind } from './domain/tx-command.js';
