export { SubmitCommand } from './application/submit-command.js';
