import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { OperatorClient, PeerView } from '../../../rpc/client/operator-client.ts'
import { BAN_HOURS, BAN_HOURS_MAX } from '../../../rpc/contract/peers.ts'
import { parseIp } from '../../p2p/host/address-groups.ts'
import { type Command, type CommandContext, RPC_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { operatorClient, TOKEN_FLAG } from '../operator.ts'
import { tableOf } from '../reading.ts'
import { countFlag, usage } from '../values.ts'

/** `farthing peers`: lists the peers of the node. */
export const peersCommand: Command = {
  name: 'peers',
  usage: '',
  wordsMax: 0,
  about: 'List the peers of the node, or its bans',
  example: 'peers',
  flags: {
    bans: 'List banned peers and IP addresses',
    ...RPC_FLAG,
    ...TOKEN_FLAG,
    json: 'Print the whole answer of the node as JSON',
  },
  run: async (context) => {
    const client = await operatorClient(context)
    if (!client.ok) return client.fault
    if (context.flags.bans !== undefined) return showBans(context, client.value)
    return context.flags.json === undefined ? showPeers(context, client.value) : showDocument(context, client.value)
  },
}

/** `farthing ban`: bans a peer or an IP address. */
export const banCommand: Command = {
  name: 'ban',
  usage: '<peer id or IP address>',
  wordsMax: 1,
  about: 'Keep a peer or an IP address away from the node',
  example: 'ban 203.0.113.7 --hours 48',
  flags: { hours: `How many hours, 1 to ${BAN_HOURS_MAX}; default ${BAN_HOURS}`, ...RPC_FLAG, ...TOKEN_FLAG },
  run: async (context) => {
    const [target] = context.words
    if (target === undefined) return usage('usage: farthing ban <peer id or IP address>').fault
    const hours = countFlag(context, 'hours', BAN_HOURS_MAX + 1)
    if (!hours.ok) return hours.fault
    if (hours.value === 0) return usage(`--hours is a whole number from 1 to ${BAN_HOURS_MAX}`).fault
    const client = await operatorClient(context)
    if (!client.ok) return client.fault
    const ban = await client.value.ban(parseIp(target) === undefined ? { peer: target } : { ip: target }, hours.value)
    if (!ban.ok) return ban.fault
    context.print(`${ban.value.target} is kept away until ${ban.value.until}`)
    return EXIT.ok
  },
}

/** `farthing unban`: ends a ban. */
export const unbanCommand: Command = {
  name: 'unban',
  usage: '<peer id or IP address>',
  wordsMax: 1,
  about: 'End a ban and forget what the peer did',
  example: 'unban 203.0.113.7',
  flags: { ...RPC_FLAG, ...TOKEN_FLAG },
  run: async (context) => {
    const [target] = context.words
    if (target === undefined) return usage('usage: farthing unban <peer id or IP address>').fault
    const client = await operatorClient(context)
    if (!client.ok) return client.fault
    const ban = await client.value.unban(target)
    if (!ban.ok) return ban.fault
    context.print(`${ban.value.target} may connect again`)
    return EXIT.ok
  },
}

async function showPeers({ print, note }: CommandContext, client: OperatorClient): Promise<number | Fault> {
  const answer = await client.peers()
  if (!answer.ok) return answer.fault
  const { enabled, peers } = answer.value
  const head = ['ID', 'ADDRESS', 'WAY', 'HEIGHT', 'MS', 'MODE', 'POINTS', 'AGENT', 'SINCE']
  for (const line of tableOf([head, ...peers.map(rowOf)])) print(line)
  if (!enabled) note('the node talks to no others')
  else if (peers.length === 0) note('there is nothing to list')
  return EXIT.ok
}

function rowOf(peer: PeerView): readonly string[] {
  const { id, address, direction, height, latencyMs, mode, points, agent, connectedSince } = peer
  const way = direction === 'inbound' ? 'in' : 'out'
  const latency = latencyMs === null ? '-' : String(Math.round(latencyMs))
  return [id, address ?? '-', way, String(height), latency, mode, String(points), agent, connectedSince]
}

async function showDocument({ printJson }: CommandContext, client: OperatorClient): Promise<number | Fault> {
  const answer = await client.document()
  if (!answer.ok) return answer.fault
  printJson(answer.value)
  return EXIT.ok
}

async function showBans(
  { print, printJson, note, flags }: CommandContext,
  client: OperatorClient,
): Promise<number | Fault> {
  const bans = await client.bans()
  if (!bans.ok) return bans.fault
  if (flags.json !== undefined) printJson({ bans: bans.value })
  else {
    const rows = bans.value.map(({ target, until, reason }) => [target, until, reason])
    for (const line of tableOf([['WHO', 'UNTIL', 'WHY'], ...rows])) print(line)
    if (rows.length === 0) note('no peer or address is banned')
  }
  return EXIT.ok
}
