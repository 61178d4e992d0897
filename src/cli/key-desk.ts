import { fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { OPERATOR } from '../../marketplace/chat/keys/keys.ts'
import { keyJson } from '../../rpc/chat/keys/key-handlers.ts'
import type { KeyEdit, KeyView, KeyWish, NewKeyView, OperatorClient } from '../../rpc/client/operator-client.ts'
import { type OpenChatKeys, openChatKeys } from '../chat/stores/level-chat-keys.ts'
import { systemClock } from '../daemon/runtime.ts'
import { folderPaths, isInitialised, storageFault } from '../storage/folder.ts'
import type { CommandContext } from './command.ts'
import { operatorClient } from './operator.ts'

const DAY_MS = 86_400_000
/** Most pages of a list of keys that are read, against a node whose list never ends. */
const PAGES_MAX = 500

/** API keys as commands see them, in a running node or in a data folder. */
export interface KeyDesk {
  readonly list: () => Promise<Result<readonly KeyView[]>>
  readonly create: (wish: KeyWish) => Promise<Result<NewKeyView>>
  readonly change: (id: string, edit: KeyEdit) => Promise<Result<KeyView>>
  readonly revoke: (id: string) => Promise<Result<KeyView>>
}

/**
 * Works on the keys of the running node, or on those of the data folder if no node runs. It is a fault if a node named
 * by --rpc does not answer, or if another process holds the folder.
 */
export async function atKeyDesk<T>(
  context: CommandContext,
  work: (desk: KeyDesk) => Promise<Result<T>>,
): Promise<Result<T>> {
  const { flags, config } = context
  const client = await operatorClient(context)
  if (!client.ok) return client
  const asked = await client.value.keys()
  if (asked.ok) return work(nodeDesk(client.value))
  const isThere = asked.fault.code !== 'cli/node-unreachable'
  if (isThere || flags.rpc !== undefined || !(await isInitialised(config.dataDir))) return asked
  return inFolder(context, work)
}

function nodeDesk(client: OperatorClient): KeyDesk {
  return {
    list: () => allKeys(client),
    create: (wish) => client.createKey(wish),
    change: (id, edit) => client.changeKey(id, edit),
    revoke: (id) => client.revokeKey(id),
  }
}

async function allKeys(client: OperatorClient): Promise<Result<readonly KeyView[]>> {
  const all: KeyView[] = []
  let cursor: string | null = null
  for (let i = 0; i < PAGES_MAX; i++) {
    const page = await client.keys(cursor)
    if (!page.ok) return page
    all.push(...page.value.keys)
    cursor = page.value.nextCursor
    if (cursor === null) return ok(all)
  }
  return fail(fault('cli/refused', { message: 'its list of keys has no end' }))
}

async function inFolder<T>(
  { config, note }: CommandContext,
  work: (desk: KeyDesk) => Promise<Result<T>>,
): Promise<Result<T>> {
  const { chat, dataDir } = config
  const bounds = { rpm: chat.keyRpm, tpd: chat.keyTpd, concurrent: chat.keyConcurrentMax, keys: chat.keysMax }
  const folder = folderPaths(dataDir).chatKeys
  let keys: OpenChatKeys
  try {
    keys = await openChatKeys({ folder, clock: systemClock, bounds, onFault: (cause) => note(faultMessage(cause)) })
  } catch (error) {
    return fail(storageFault(dataDir, error))
  }
  note(`no node runs: these are the keys of ${dataDir}`)
  try {
    return await work(folderDesk(keys))
  } finally {
    await keys.close()
  }
}

function folderDesk(keys: OpenChatKeys): KeyDesk {
  return {
    list: async () => ok(keys.list(OPERATOR).map(keyJson)),
    create: async ({ label, rpm = null, tpd = null, expiresInDays = null }) => {
      const expiresAtMs = expiresInDays === null ? null : systemClock.now() + expiresInDays * DAY_MS
      const made = await keys.create({ label, owner: OPERATOR, limits: { rpm, tpd }, expiresAtMs })
      return made.ok ? ok({ key: keyJson(made.value.key), secret: made.value.secret }) : made
    },
    change: async (id, { label, rpm, tpd }) => {
      const known = keys.list(OPERATOR).find((key) => key.id === id)
      if (known === undefined) return fail(fault('chat/no-key', { id }))
      const limits = {
        rpm: rpm === undefined ? known.limits.rpm : rpm,
        tpd: tpd === undefined ? known.limits.tpd : tpd,
      }
      const changed = await keys.change(id, OPERATOR, { limits, ...(label !== undefined && { label }) })
      return changed.ok ? ok(keyJson(changed.value)) : changed
    },
    revoke: async (id) => {
      const revoked = await keys.revoke(id, OPERATOR)
      return revoked.ok ? ok(keyJson(revoked.value)) : revoked
    },
  }
}
