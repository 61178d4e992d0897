import { writeFile } from 'node:fs/promises'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { AGENT_ID } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { type AgentClient, FarthingError, type Tab, type TabStanding } from '../../../rpc/client/client.ts'
import { useNativeSha256 } from '../../crypto/native-backend.ts'
import { nativeAsset } from '../assets.ts'
import { FILE_FLAGS, reasonNotToSave, withRequest } from '../call-file.ts'
import { type Command, type CommandContext, FEE_FLAG, RPC_FLAG, WALLET_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { nodeHint } from '../place.ts'
import { showTable } from '../reading.ts'
import { callOnTab, endOf, showAnswer } from '../tab-calls.ts'
import { PRICE_MAX_DEFAULT, settled, tabClient } from '../tab-client.ts'
import { checkedLines, receiptRows, standingLines, tabRows } from '../tab-text.ts'
import { countFlag, readId, readServiceId, usage } from '../values.ts'

const SIGNING_FLAGS = { ...RPC_FLAG, ...WALLET_FLAG, ...FEE_FLAG }
const JSON_FLAG = { json: 'Print one JSON object' }
const BLOCKS_BOUND = 900_000_000

/** A command about one tab. The wallet is opened if it signs. */
function tabCommand(
  command: Omit<Command, 'run'> & { readonly signs: boolean | ((context: CommandContext) => boolean) },
  run: (context: CommandContext, tab: Tab, agent: AgentClient) => Promise<number | Fault>,
): Command {
  const { signs, ...words } = command
  return {
    ...words,
    run: async (context) => {
      useNativeSha256()
      const [word] = context.words
      const id = word === undefined ? usage(`usage: farthing ${words.name} ${words.usage}`) : readId('tab', word)
      if (!id.ok) return id.fault
      const agent = await tabClient(context, typeof signs === 'boolean' ? signs : signs(context))
      if (!agent.ok) return agent.fault
      const tab = await settled(context, () => agent.value.tab(id.value))
      if (!tab.ok) return fault('cli/refused', { message: `no tab ${id.value} is kept here; ${recoverHint(context)}` })
      return run(context, tab.value, agent.value)
    },
  }
}

function recoverHint(context: CommandContext): string {
  return `${nodeHint(context, 'tab recover')} finds those of the wallet`
}

/** `farthing tab open`: locks a deposit for calls of one agent. */
export const tabOpenCommand: Command = {
  name: 'tab open',
  usage: '<agent>',
  wordsMax: 1,
  about: 'Lock coins with an agent, for calls that are answered at once; the rest comes back',
  example: 'tab open farthing-42b5b481186a --deposit 1',
  flags: {
    deposit: 'Coins to lock',
    term: 'Blocks until the tab ends by itself; default 28800, a day',
    'close-delay':
      'Blocks until the rest is back where the seller does not answer; default: the least that the agent takes',
    ...SIGNING_FLAGS,
    ...JSON_FLAG,
  },
  run: async (context) => {
    useNativeSha256()
    const asked = readOpening(context)
    if (!asked.ok) return asked.fault
    const { agentId, ...options } = asked.value
    const agent = await tabClient(context, true)
    if (!agent.ok) return agent.fault
    const waiting = await settled(context, () => openingWith(agent.value, agentId))
    if (!waiting.ok) return waiting.fault
    if (waiting.value !== null) {
      const { value: tab } = waiting
      context.note(`an opening with ${agentId} waits already: ${tab.tabId}; waiting for its block`)
      const standing = await settled(context, () => tab.ready().then(() => tab.state()))
      return standing.ok ? show(context, standing.value) : standing.fault
    }
    context.note(`open a tab with ${agentId}: lock ${options.deposit} ${context.params.ticker}; waiting for its block`)
    const standing = await settled(context, async () => (await agent.value.openTab(agentId, options)).state())
    return standing.ok ? show(context, standing.value) : standing.fault
  },
}

/** A tab whose opening has no block yet, as after a command that was interrupted. */
async function openingWith(agent: AgentClient, agentId: string): Promise<Tab | null> {
  for (const tab of await agent.tabs())
    if (tab.agentId === agentId && (await tab.state()).status === 'opening') return tab
  return null
}

interface OpeningAsked {
  readonly agentId: string
  readonly deposit: string
  readonly term?: number
  readonly closeDelay?: number
}

function readOpening(context: CommandContext): Result<OpeningAsked> {
  const [agentId] = context.words
  const { deposit } = context.flags
  if (agentId === undefined || deposit === undefined) return usage('usage: farthing tab open <agent> --deposit <coins>')
  if (!AGENT_ID.test(agentId)) return usage(`"${agentId.slice(0, 40)}" is no id of an agent`)
  const [term, closeDelay] = [countFlag(context, 'term', BLOCKS_BOUND), countFlag(context, 'close-delay', BLOCKS_BOUND)]
  if (!term.ok) return term
  if (!closeDelay.ok) return closeDelay
  return ok({
    ...{ agentId, deposit },
    ...(term.value === undefined ? {} : { term: term.value }),
    ...(closeDelay.value === undefined ? {} : { closeDelay: closeDelay.value }),
  })
}

/** `farthing tab call`: buys a call from a tab. */
export const tabCallCommand: Command = {
  name: 'tab call',
  usage: '<service> [request]',
  wordsMax: 2,
  about: 'Buy one call from an open tab: print result and receipt, and check them',
  example: 'tab call node-swap-quote "10 FAR->WOOL"',
  flags: {
    tab: 'The tab to pay from; default: an open one with the agent of the service',
    'max-price': `Most coins to pay for the call, also where its price rose; default ${PRICE_MAX_DEFAULT}`,
    ...SIGNING_FLAGS,
    ...FILE_FLAGS,
    json: 'Print one JSON object with result, receipt, verified, tab',
  },
  run: async (given) => {
    useNativeSha256()
    const asked = await withRequest(given)
    if (!asked.ok) return asked.fault
    const context = asked.value
    const [word = '', request = ''] = context.words
    const serviceId = readServiceId(word)
    if (!serviceId.ok) return serviceId.fault
    const agent = await tabClient(context, true)
    if (!agent.ok) return agent.fault
    const tab = await payingTab(context, agent.value, serviceId.value)
    if (!tab.ok) return tab.fault
    const end = await callOnTab(context, tab.value, { serviceId: serviceId.value, request })
    if (end !== null) return end
    const hint = nodeHint(context, `tab fund ${tab.value.tabId} <coins>`)
    return fault('cli/refused', { message: `the call was not made; add to the tab with: ${hint}` })
  },
}

async function payingTab(context: CommandContext, agent: AgentClient, serviceId: string): Promise<Result<Tab>> {
  const { tab: named } = context.flags
  if (named !== undefined) {
    const id = readId('tab', named)
    return id.ok ? settled(context, () => agent.tab(id.value)) : id
  }
  const quote = await settled(context, () => agent.quote(serviceId))
  if (!quote.ok) return quote
  const { agentId } = quote.value
  const open = await settled(context, () => agent.tabWith(agentId))
  if (!open.ok) return open
  if (open.value !== null) return ok(open.value)
  const hint = nodeHint(context, `tab open ${agentId} --deposit 1`)
  return fail(fault('cli/refused', { message: `there is no open tab with ${agentId}; open one with: ${hint}` }))
}

/** `farthing tab list`: the tabs of the data folder. */
export const tabListCommand: Command = {
  name: 'tab list',
  usage: '',
  wordsMax: 0,
  about: 'List the tabs of this data folder',
  example: 'tab list',
  flags: { all: 'Also those that have ended', ...RPC_FLAG, ...JSON_FLAG },
  run: async (context) => {
    const agent = await tabClient(context, false)
    if (!agent.ok) return agent.fault
    const all = await settled(context, async () => standingsOf(context, await agent.value.tabs()))
    if (!all.ok) return all.fault
    const isOver = ({ status }: TabStanding): boolean => status === 'ended' || status === 'void'
    const shown = context.flags.all === undefined ? all.value.filter((each) => !isOver(each)) : all.value
    if (context.flags.json !== undefined) context.printJson({ tabs: shown.map(jsonOf) })
    else showTable(context, tabRows(shown, nativeAsset(context)), {})
    return EXIT.ok
  },
}

/** How tabs stand. One that the node shows wrongly must not hide the others. */
async function standingsOf(context: CommandContext, tabs: readonly Tab[]): Promise<readonly TabStanding[]> {
  const standings = tabs.map((tab) =>
    tab.state().catch((error: unknown) => {
      if (!(error instanceof FarthingError) || error.code !== 'other_tab') throw error
      context.note(`${tab.tabId}: ${error.message}`)
      return null
    }),
  )
  return (await Promise.all(standings)).filter((standing) => standing !== null)
}

/** `farthing tab show`: one tab. */
export const tabShowCommand = tabCommand(
  {
    name: 'tab show',
    usage: '<tab>',
    wordsMax: 1,
    about: 'Show a tab: what is left, what was charged, when it ends',
    example: 'tab show <id from tab list>',
    flags: { ...RPC_FLAG, ...JSON_FLAG },
    signs: false,
  },
  async (context, tab) => {
    const standing = await settled(context, () => tab.state())
    return standing.ok ? show(context, standing.value) : standing.fault
  },
)

/** `farthing tab fund`: adds to the deposit. */
export const tabFundCommand = tabCommand(
  {
    name: 'tab fund',
    usage: '<tab> <amount>',
    wordsMax: 2,
    about: 'Add coins to a tab; its end stays',
    example: 'tab fund <id from tab list> 1',
    flags: { ...SIGNING_FLAGS, ...JSON_FLAG },
    signs: true,
  },
  async (context, tab) => {
    const [, coins] = context.words
    if (coins === undefined) return usage('usage: farthing tab fund <tab> <amount>').fault
    const standing = await settled(context, () => tab.topUp(coins))
    return standing.ok ? show(context, standing.value) : standing.fault
  },
)

/** `farthing tab close`: ends a tab. */
export const tabCloseCommand = tabCommand(
  {
    name: 'tab close',
    usage: '<tab>',
    wordsMax: 1,
    about: 'End a tab: the seller claims what it charged, the rest comes back',
    example: 'tab close <id from tab list>',
    flags: {
      'by-chain': 'Do not ask the seller: the rest is back after the close delay',
      ...SIGNING_FLAGS,
      ...JSON_FLAG,
    },
    signs: true,
  },
  async (context, tab) => {
    const byChain = context.flags['by-chain'] !== undefined
    const closing = await settled(context, () => tab.close({ byChain }))
    if (!closing.ok) return closing.fault
    const { by, txId, endsAt } = closing.value
    if (context.flags.json !== undefined) context.printJson({ tabId: tab.tabId, by, txId, endsAt })
    else if (by === 'chain') context.print(`closing: the rest is back at height ${endsAt}`)
    else context.print(`the seller closes it${txId === null ? '' : ` with ${txId}`}`)
    return EXIT.ok
  },
)

/** `farthing tab receipts`: the receipts of a tab. */
export const tabReceiptsCommand = tabCommand(
  {
    name: 'tab receipts',
    usage: '<tab>',
    wordsMax: 1,
    about: 'List the receipts of a tab, as the seller signed them',
    example: 'tab receipts <id from tab list>',
    flags: {
      'from-seller':
        'Ask the seller for receipts that this folder lacks, too; it keeps them a day after the end of the tab',
      ...RPC_FLAG,
      ...WALLET_FLAG,
      ...JSON_FLAG,
    },
    signs: ({ flags }) => flags['from-seller'] !== undefined,
  },
  async (context, tab) => {
    const fromSeller = context.flags['from-seller'] !== undefined
    const receipts = await settled(context, () => tab.receipts({ fromSeller }))
    if (!receipts.ok) return receipts.fault
    if (context.flags.json !== undefined) context.printJson({ receipts: receipts.value })
    else showTable(context, receiptRows(receipts.value, nativeAsset(context)), {})
    return EXIT.ok
  },
)

/** `farthing tab verify`: checks the receipts of a tab against the chain. */
export const tabVerifyCommand = tabCommand(
  {
    name: 'tab verify',
    usage: '<tab>',
    wordsMax: 1,
    about: 'Check all receipts of a tab against every claim on chain',
    example: 'tab verify <id from tab list>',
    flags: {
      evidence: 'New file for what shows that the seller did not keep to the tab; one that exists is never overwritten',
      ...RPC_FLAG,
      ...WALLET_FLAG,
      ...JSON_FLAG,
    },
    signs: true,
  },
  async (context, tab) => {
    const { evidence: path, json } = context.flags
    const unfit = path === undefined ? null : await reasonNotToSave(path)
    if (unfit !== null) return unfit
    const checked = await settled(context, () => tab.verifyReceipts())
    if (!checked.ok) return checked.fault
    if (json === undefined) for (const line of checkedLines(checked.value, nativeAsset(context))) context.print(line)
    else context.printJson(jsonOf(checked.value))
    const { evidence, failed } = checked.value
    if (path !== undefined && evidence !== null)
      await writeFile(path, `${JSON.stringify(evidence, null, 2)}\n`, { flag: 'wx' })
    if (evidence !== null) context.note(`the seller did not keep to the tab: ${evidence.kind}`)
    return failed.length === 0 ? EXIT.ok : EXIT.unverified
  },
)

/** `farthing tab recover`: finds the tabs of a wallet, and finishes calls without an answer. */
export const tabRecoverCommand: Command = {
  name: 'tab recover',
  usage: '',
  wordsMax: 0,
  about: 'Find the tabs of the wallet on the chain, also without notes, and ask again for answers that were lost',
  example: 'tab recover',
  flags: {
    'max-unnoted': 'Most coins that a seller may have charged which this folder has no notes of; default 100',
    ...SIGNING_FLAGS,
    ...JSON_FLAG,
  },
  run: async (context) => {
    useNativeSha256()
    const agent = await tabClient(context, true)
    if (!agent.ok) return agent.fault
    const { 'max-unnoted': most } = context.flags
    const found = await settled(context, () => agent.value.recoverTabs(most === undefined ? {} : { maxUnnoted: most }))
    if (!found.ok) return found.fault
    const answers: unknown[] = []
    const collecting = { ...context, printJson: (answer: unknown) => void answers.push(answer) }
    for (const { standing } of found.value) {
      const end = standing.unanswered === 0 ? EXIT.ok : await finish(collecting, agent.value, standing.tabId)
      if (typeof end !== 'number') return end
    }
    const standings = found.value.map(({ standing, unnoted }) => ({ ...jsonOf(standing), unnoted: unnoted.toString() }))
    if (context.flags.json !== undefined) context.printJson({ tabs: standings, answers })
    else
      showTable(
        context,
        tabRows(
          found.value.map(({ standing }) => standing),
          nativeAsset(context),
        ),
        {},
      )
    return EXIT.ok
  },
}

async function finish(context: CommandContext, agent: AgentClient, tabId: string): Promise<number | Fault> {
  const tab = await settled(context, () => agent.tab(tabId))
  if (!tab.ok) return tab.fault
  try {
    for (const answer of await tab.value.resume()) await showAnswer(context, answer)
    return EXIT.ok
  } catch (error) {
    return endOf(context, error)
  }
}

function show(context: CommandContext, standing: TabStanding): number {
  if (context.flags.json !== undefined) context.printJson(jsonOf(standing))
  else for (const line of standingLines(standing, nativeAsset(context))) context.print(line)
  return EXIT.ok
}

/** Amounts are base units as decimal text. */
function jsonOf(value: object): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? each.toString() : each))
  return JSON.parse(text) as Readonly<Record<string, unknown>>
}
