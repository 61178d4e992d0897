import { ok } from '../../../consensus/primitives/result.ts'
import { agentLines } from '../agent-text.ts'
import { cellOf, itemsOf, PAGE_FLAGS, queryOf, readingCommand } from '../reading.ts'
import { readAgentId } from '../values.ts'

/** `farthing agent list`: every agent of the chain. */
export const agentListCommand = readingCommand({
  name: 'agent list',
  usage: '',
  wordsMax: 0,
  about: 'List every agent of the registry on chain',
  example: 'agent list',
  flags: PAGE_FLAGS,
  rowsMax: 50,
  path: (context) => ok(`/agents${queryOf(context, ['limit', 'cursor'])}`),
  rows: ({ agents }) => [
    ['AGENT', 'NAME', 'SERVICES', 'PROVEN CALLS', 'ENDPOINT'],
    ...itemsOf(agents).map(({ agentId, name, serviceCount, provenCalls, endpoint }) =>
      [agentId, name, serviceCount, provenCalls, endpoint].map(cellOf),
    ),
  ],
})

/** `farthing agent show`: an agent with its services. */
export const agentShowCommand = readingCommand({
  name: 'agent show',
  usage: '<agent>',
  wordsMax: 1,
  about: 'Show an agent with its services and how its calls ended',
  example: 'agent show <id from agent list>',
  flags: {},
  path: ({ words: [word] }) => {
    const agentId = readAgentId(word, 'usage: farthing agent show <agent>')
    return agentId.ok ? ok(`/agents/${agentId.value}`) : agentId
  },
  lines: agentLines,
})
