import type { Fault } from '../../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import type { TrialView } from '../../../rpc/client/operator-client.ts'
import { FILE_FLAGS, saveResultFile, withRequest } from '../call-file.ts'
import { type Command, type CommandContext, nodeUrl, RPC_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { operatorClient, TOKEN_FLAG } from '../operator.ts'
import { type Fields, tableOf } from '../reading.ts'
import { resultLines } from '../result-text.ts'
import type { Standing } from '../services-here.ts'
import { usage } from '../values.ts'

/** `farthing services`: which services can be sold now, and what each other service needs for that. */
export const servicesCommand: Command = {
  name: 'services',
  usage: '',
  wordsMax: 0,
  about: 'List all services with their prices, whether they can be sold now, and the settings that the others need',
  example: 'services',
  flags: { ...RPC_FLAG, json: 'Print JSON' },
  run: async (context) => {
    const standings = await standingsOf(context)
    if (!standings.ok) return standings.fault
    const rows = standings.value
    if (context.flags.json !== undefined) context.printJson(rows)
    else showStandings(context, rows)
    return EXIT.ok
  },
}

/** `farthing services test`: runs one service without a payment. */
export const servicesTestCommand: Command = {
  name: 'services test',
  usage: '<service id> [<request>]',
  wordsMax: 2,
  about: 'Run a service without a payment, on its example unless a request is given',
  example: 'services test node-world-clock Europe/Berlin',
  flags: { ...RPC_FLAG, ...TOKEN_FLAG, ...FILE_FLAGS, json: 'Print the result as JSON' },
  run: async (context) => {
    if (context.words.length === 0) return usage('usage: farthing services test <service id> [<request>]').fault
    const asked = await withRequest(context)
    if (!asked.ok) return asked.fault
    const [word = '', request] = asked.value.words
    const trial = await trialOf(context, word.startsWith('node-') ? word : `node-${word}`, request)
    if (!trial.ok) return trial.fault
    const { outcome, durationMs } = trial.value
    if (outcome.ok) {
      if (context.flags.json !== undefined) context.printJson(outcome.result, 2)
      else for (const line of resultLines(outcome.result)) context.print(line)
      context.note(`It took ${durationMs} ms.`)
      return context.flags.save === undefined ? EXIT.ok : saveTried(context, context.flags.save, outcome.result)
    }
    context.note(`${outcome.code}: ${outcome.message}`)
    return EXIT.failed
  },
}

async function saveTried({ note }: CommandContext, path: string, result: unknown): Promise<number | Fault> {
  const saved = await saveResultFile(path, result)
  if (!saved.ok) return saved.fault
  note(`${saved.value} bytes written to ${path}`)
  return EXIT.ok
}

/** Availability of the services, from the running node, or without one from the configuration and the data folder. */
async function standingsOf(context: CommandContext): Promise<Result<readonly Standing[]>> {
  const registry = await new NodeClient(nodeUrl(context)).document('/services.json')
  if (registry.ok) return ok(listed(registry.value))
  if (context.flags.rpc !== undefined || registry.fault.code !== 'cli/node-unreachable') return registry
  return (await import('../services-here.ts')).standingsHere(context)
}

function listed({ services }: Fields): readonly Standing[] {
  const entries = Array.isArray(services) ? (services as readonly Fields[]) : []
  return entries.map(({ serviceId, priceUsd, available, unavailableReason, requires }) => ({
    serviceId: String(serviceId),
    priceUsd: typeof priceUsd === 'number' ? priceUsd : null,
    available: available === true,
    reason: typeof unavailableReason === 'string' ? unavailableReason : '',
    requires: Array.isArray(requires) ? requires.map(String) : [],
  }))
}

function showStandings({ print, note }: CommandContext, standings: readonly Standing[]): void {
  const rows = standings.map(({ serviceId, priceUsd, available, reason, requires }) => [
    serviceId,
    priceUsd === null ? '' : `$${priceUsd}`,
    available ? 'yes' : 'no',
    requires.join(', '),
    reason,
  ])
  for (const line of tableOf([['SERVICE', 'PRICE', 'AVAILABLE', 'SETTINGS', 'WHY NOT'], ...rows])) print(line)
  note(`${standings.filter(({ available }) => available).length} of ${standings.length} services are available.`)
}

/** Runs a service in the running node, which locks the data folder, or in this process if no node runs. */
async function trialOf(
  context: CommandContext,
  serviceId: string,
  request: string | undefined,
): Promise<Result<TrialView>> {
  const client = await operatorClient(context)
  if (!client.ok) return client
  const asked = await client.value.trial(serviceId, request)
  if (asked.ok || context.flags.rpc !== undefined || asked.fault.code !== 'cli/node-unreachable') return asked
  return (await import('../services-here.ts')).trialHere(context, serviceId, request)
}
