import type { Command } from '../command.ts'

/** `farthing start`: runs the daemon until it is stopped. */
export const startCommand: Command = {
  name: 'start',
  usage: '',
  wordsMax: 0,
  about: 'Run the node',
  isNode: true,
  flags: {
    peer: 'Node to join, as its log names it: /ip4/10.0.0.2/tcp/8421/p2p/<id>; separate several by commas',
  },
  run: async (context) => (await import('../run-daemon.ts')).runNode(context),
}
