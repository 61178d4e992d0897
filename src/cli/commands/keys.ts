import type { Fault } from '../../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { LABEL_CHARS_MAX } from '../../../marketplace/chat/keys/key-record.ts'
import { EXPIRY_DAYS_MAX, KEY_RPM_MAX, KEY_TPD_MAX } from '../../../marketplace/chat/keys/key-wish.ts'
import type { KeyView } from '../../../rpc/client/operator-client.ts'
import { folderPaths, isInitialised } from '../../storage/folder.ts'
import { PASSWORD_CHARS, writeOperatorPassword } from '../../storage/operator-password.ts'
import { promptHidden } from '../../wallet/passphrase.ts'
import { type Command, type CommandContext, RPC_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { atKeyDesk } from '../key-desk.ts'
import { TOKEN_FLAG } from '../operator.ts'
import { tableOf } from '../reading.ts'
import { countFlag, usage } from '../values.ts'

const FLAGS = { ...RPC_FLAG, ...TOKEN_FLAG, json: 'Print JSON' }
const LIMIT_FLAGS = {
  rpm: 'Chats per minute; none: the limit of its owner',
  tpd: 'Tokens per day (UTC); none: the limit of its owner',
}

/** `farthing keys`: lists the API keys of the chat. */
export const keysCommand: Command = {
  name: 'keys',
  usage: '',
  wordsMax: 0,
  about: 'List the API keys of the chat, with what they used',
  example: 'keys',
  flags: FLAGS,
  run: async (context) => {
    const listed = await atKeyDesk(context, (desk) => desk.list())
    if (!listed.ok) return listed.fault
    if (context.flags.json !== undefined) context.printJson({ keys: listed.value })
    else showKeys(context, listed.value)
    return EXIT.ok
  },
}

/** `farthing keys create`: makes a key and shows it once. */
export const keysCreateCommand: Command = {
  name: 'keys create',
  usage: '<label>',
  wordsMax: 1,
  about: 'Make an API key of the operator; it is shown this once',
  example: 'keys create laptop --rpm 30',
  flags: {
    ...LIMIT_FLAGS,
    'expires-days': `Days until it ends by itself, 1 to ${EXPIRY_DAYS_MAX}; default never`,
    ...FLAGS,
  },
  run: async (context) => {
    const [label] = context.words
    if (label === undefined) return usage('usage: farthing keys create <label>').fault
    const limits = limitFlags(context)
    if (!limits.ok) return limits.fault
    const days = countFlag(context, 'expires-days', EXPIRY_DAYS_MAX + 1)
    if (!days.ok) return days.fault
    if (days.value === 0) return usage(`--expires-days is a whole number from 1 to ${EXPIRY_DAYS_MAX}`).fault
    const { rpm, tpd } = limits.value
    const wish = {
      label,
      ...(typeof rpm === 'number' && { rpm }),
      ...(typeof tpd === 'number' && { tpd }),
      ...(days.value !== undefined && { expiresInDays: days.value }),
    }
    const made = await atKeyDesk(context, (desk) => desk.create(wish))
    if (!made.ok) return made.fault
    if (context.flags.json !== undefined) context.printJson(made.value)
    else {
      context.print(made.value.secret)
      context.note('this is the key: it is shown this once, and kept nowhere')
    }
    return EXIT.ok
  },
}

/** `farthing keys change`: renames a key or changes its limits. */
export const keysChangeCommand: Command = {
  name: 'keys change',
  usage: '<id>',
  wordsMax: 1,
  about: 'Rename an API key, or set its limits',
  flags: { label: `Another name, of at most ${LABEL_CHARS_MAX} characters`, ...LIMIT_FLAGS, ...FLAGS },
  run: async (context) => {
    const id = idOf(context)
    if (id === undefined) return usage('usage: farthing keys change <id>').fault
    const limits = limitFlags(context)
    if (!limits.ok) return limits.fault
    const { label } = context.flags
    const edit = { ...limits.value, ...(label !== undefined && { label }) }
    if (Object.keys(edit).length === 0) return usage('keys change needs --label, --rpm or --tpd').fault
    return showKey(context, await atKeyDesk(context, (desk) => desk.change(id, edit)))
  },
}

/** `farthing keys revoke`: revokes a key. */
export const keysRevokeCommand: Command = {
  name: 'keys revoke',
  usage: '<id>',
  wordsMax: 1,
  about: 'End an API key for good',
  flags: FLAGS,
  run: async (context) => {
    const id = idOf(context)
    if (id === undefined) return usage('usage: farthing keys revoke <id>').fault
    return showKey(context, await atKeyDesk(context, (desk) => desk.revoke(id)))
  },
}

/** `farthing keys password`: sets the operator's password for the dashboard. */
export const keysPasswordCommand: Command = {
  name: 'keys password',
  usage: '',
  wordsMax: 0,
  about: 'Set the password of the dashboard; it is asked for, or read from standard input',
  flags: {},
  run: async ({ config, print }) => {
    const { dataDir } = config
    if (!(await isInitialised(dataDir))) return usage(`there is no node in ${dataDir} yet: start it once`).fault
    const password = await askPassword()
    if (!password.ok) return password.fault
    await writeOperatorPassword(folderPaths(dataDir).operatorPassword, password.value)
    print('the password is set: it is asked for at /dashboard from now on, and sessions of the operator are over')
    return EXIT.ok
  },
}

async function askPassword(): Promise<Result<string>> {
  if (!process.stdin.isTTY) return soundPassword((await readInput()).replace(/\r?\n$/, ''))
  const password = soundPassword(await promptHidden('New password: '))
  if (!password.ok || (await promptHidden('Once more: ')) === password.value) return password
  return usage('the two passwords differ')
}

function soundPassword(text: string): Result<string> {
  const { min, max } = PASSWORD_CHARS
  if (text.length >= min && text.length <= max && !/[\r\n]/.test(text)) return ok(text)
  return usage(`a password is one line of ${min} to ${max} characters`)
}

/** Reads standard input, but stops beyond four times the longest password, so that endless input is refused. */
async function readInput(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk as string
    if (text.length > 4 * PASSWORD_CHARS.max) break
  }
  return text
}

function idOf({ words }: CommandContext): string | undefined {
  return words[0]?.replace(/^fk-/, '')
}

interface Limits {
  readonly rpm?: number | null
  readonly tpd?: number | null
}

function limitFlags({ flags }: CommandContext): Result<Limits> {
  const limits: { rpm?: number | null; tpd?: number | null } = {}
  for (const [name, max] of [
    ['rpm', KEY_RPM_MAX],
    ['tpd', KEY_TPD_MAX],
  ] as const) {
    const text = flags[name]
    if (text === undefined) continue
    const value = text === 'none' ? null : Number(text)
    if (value !== null && !(/^[1-9][0-9]{0,12}$/.test(text) && value <= max))
      return usage(`--${name} is a whole number from 1 to ${max}, or none`)
    limits[name] = value
  }
  return ok(limits)
}

function showKeys({ print, note }: CommandContext, keys: readonly KeyView[]): void {
  const head = ['ID', 'LABEL', 'STATE', 'OWNER', 'RPM', 'TPD', 'CHATS TODAY', 'TOKENS TODAY', 'TOKENS', 'LAST USED']
  for (const line of tableOf([head, ...keys.map(rowOf)])) print(line)
  if (keys.length === 0) note('there is nothing to list')
}

function rowOf({ id, label, state, owner, limits, usedToday, usedInAll, lastUsedAt }: KeyView): readonly string[] {
  const tokens = (used: KeyView['usedToday']): string => String(used.promptTokens + used.completionTokens)
  const [rpm, tpd] = [limits.rpm, limits.tpd].map((limit) => (limit === null ? '-' : String(limit))) as [string, string]
  const today = [String(usedToday.requests), tokens(usedToday)]
  return [id, label, state, owner, rpm, tpd, ...today, tokens(usedInAll), lastUsedAt ?? '-']
}

function showKey({ print, printJson, flags }: CommandContext, key: Result<KeyView>): number | Fault {
  if (!key.ok) return key.fault
  const { id, label, state, limits } = key.value
  const [rpm, tpd] = [limits.rpm ?? 'none', limits.tpd ?? 'none']
  const bounds = state === 'live' ? `; --rpm ${rpm}, --tpd ${tpd}` : ''
  if (flags.json === undefined) print(`${id} "${label}" is ${state}${bounds}`)
  else printJson(key.value)
  return EXIT.ok
}
