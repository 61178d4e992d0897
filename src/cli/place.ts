import { flagOf } from '../../config/load.ts'
import { SETTINGS, type SettingName } from '../../config/settings.ts'
import { type Fault, type FaultDetail, fault } from '../../consensus/primitives/fault.ts'
import type { FaultCode } from '../../consensus/primitives/fault-table.ts'
import { localUrl } from '../daemon/own-url.ts'
import type { CommandContext } from './command.ts'

type Place = Pick<CommandContext, 'config' | 'resolution' | 'flags'>

/** Words that need no quotes in a shell. */
const PLAIN_WORD = /^[\w./:@%+=,-]+$/
/** Settings that a hint repeats if a flag gave them. The environment and files apply to the next command too. */
const REPEATED: readonly SettingName[] = ['wallet.passphrase-file', 'dev-key']
const NODE_SETTINGS: readonly SettingName[] = ['rpc.host', 'rpc.port']

/** A command line to suggest, for the same network and folder. */
export function folderHint(place: Place, words: string): string {
  return `npx --no farthing ${words}${folderFlags(place)}`
}

/** A command line to suggest, for the same node, network and folder. */
export function nodeHint(place: Place, words: string): string {
  return `npx --no farthing ${words}${nodeFlags(place)}`
}

/** Each flag stands after a space. Empty if all are the defaults. */
function folderFlags({ config, resolution, flags }: Place): string {
  const network = config.network === SETTINGS.network.default ? '' : flag('network', config.network)
  const folder = resolution['data-dir'].origin === 'default' ? '' : flag('data-dir', config.dataDir)
  const file = flags.config === undefined ? '' : flag('config', flags.config)
  return `${network}${folder}${file}${repeated(resolution, REPEATED)}`
}

function nodeFlags(place: Place): string {
  const { rpc } = place.flags
  const node = rpc === undefined ? repeated(place.resolution, NODE_SETTINGS) : flag('rpc', rpc)
  return `${node}${folderFlags(place)}`
}

/** The given flags with these names, as another command line repeats them, each after a space. */
export function givenFlags({ flags }: Pick<Place, 'flags'>, names: readonly string[]): string {
  return names.map((name) => (flags[name] === undefined ? '' : flag(name, flags[name]))).join('')
}

/** How to start a node, if none answers. Empty if the node would be on another machine. */
function startAdvice(place: Place): string {
  const { config, flags, resolution } = place
  const { rpc } = flags
  if (rpc !== undefined && !isOfThisMachine(rpc)) return ''
  const isOwn = rpc === undefined || rpc.replace(/\/+$/, '') === localUrl(config.rpc)
  const where = isOwn ? repeated(resolution, NODE_SETTINGS) : flag('rpc-port', new URL(rpc).port || '80')
  return `; start one with: ${folderHint(place, `start --mine-threads 1${where}`)}`
}

function isOfThisMachine(url: string): boolean {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  return protocol === 'http:' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

function repeated(resolution: Place['resolution'], names: readonly SettingName[]): string {
  const given = names.filter((name) => resolution[name].origin === 'flag')
  return given.map((name) => flag(flagOf(name).slice(2), String(resolution[name].value))).join('')
}

function flag(name: string, value: string): string {
  return ` --${name} ${shellWord(value)}`
}

/** Details that make the command in a fault's message work in the same place, by fault code. */
const ADVICE: Readonly<Partial<Record<FaultCode, (place: Place) => FaultDetail>>> = {
  'wallet/missing': (place) => ({ flags: folderFlags(place) }),
  'storage/not-initialised': (place) => ({ flags: folderFlags(place) }),
  'storage/stale-indexes': (place) => ({ flags: folderFlags(place) }),
  'cli/not-mined-yet': (place) => ({ flags: nodeFlags(place) }),
  'cli/sent-blind': (place) => ({ flags: nodeFlags(place) }),
  'cli/node-unreachable': (place) => ({ advice: startAdvice(place) }),
}

/** A fault whose suggested command works in the same place. Other faults stay as they are. */
export function withPlace(cause: Fault, place: Place): Fault {
  const advice = ADVICE[cause.code]
  return advice === undefined ? cause : fault(cause.code, { ...cause.detail, ...advice(place) })
}

function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
