import type { Clock, Timers } from '../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { KeyBook } from '../../../marketplace/chat/keys/key-book.ts'
import type { ChatKeys, OwnerBounds } from '../../../marketplace/chat/keys/keys.ts'
import { systemTimers } from '../../daemon/runtime.ts'
import { storageFaultOf } from '../../storage/folder.ts'
import { LevelKeyRecords } from './chat-key-records.ts'
import { keySeals, makeKeySecret } from './chat-key-seals.ts'

/** Interval of writing the use of keys. A killed process loses at most the use of this time. */
export const USAGE_LOSS_MS_MAX = 5_000

/** What keys are opened with. */
export interface ChatKeysOptions {
  /** Its parent must exist. The secret of the seals lies beside it in `<folder>.secret`. */
  readonly folder: string
  readonly clock: Clock
  readonly bounds: OwnerBounds
  /** Receives problems of the store that do not stop the node. */
  readonly onFault: (cause: Fault) => void
  readonly timers?: Timers
  /** With this many keys in all, a wallet gets a new key only in place of an old one. Default 20,000. */
  readonly keysInAllMax?: number
}

/** The keys of a data folder, until they are closed. */
export interface OpenChatKeys extends ChatKeys {
  /** Writes the use first. A second call does nothing. */
  readonly close: () => Promise<void>
}

/**
 * Opens the API keys of a data folder. Creates store and secret if missing. Rejects if another process holds the store
 * or the disk fails: see `storageFault`.
 */
export async function openChatKeys(options: ChatKeysOptions): Promise<OpenChatKeys> {
  const { folder, clock, bounds, keysInAllMax, onFault } = options
  const tell = (reason: string): void => onFault(fault('chat/keys-damaged', { reason }))
  const store = await LevelKeyRecords.open(folder, (reason) =>
    tell(`${folder} is damaged (${reason}): it was moved aside, and keys must be made again`),
  )
  try {
    const secretPath = `${folder}.secret`
    const seals = keySeals(await makeKeySecret(secretPath))
    const { keys, owners, unreadable } = store.kept
    const lost = keys.filter(({ sealedBy }) => sealedBy !== seals.name).length
    if (lost > 0) tell(`${lost} are no longer valid, since ${secretPath} was lost or replaced`)
    if (unreadable.length > 0) tell(`${unreadable.length} entries of ${folder} cannot be read`)
    const write = store.write.bind(store)
    const room = keysInAllMax === undefined ? {} : { keysInAllMax }
    return running(new KeyBook({ bounds, clock, seals, write, kept: { keys, owners }, ...room }), store, options)
  } catch (error) {
    await store.close()
    throw error
  }
}

function running(
  book: KeyBook,
  store: LevelKeyRecords,
  { folder, timers = systemTimers, onFault }: ChatKeysOptions,
): OpenChatKeys {
  const failed = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error)
    onFault(storageFaultOf(folder, error) ?? fault('chat/keys-damaged', { reason }))
  }
  let closing: Promise<void> | undefined
  let cancel = (): void => {}
  const later = (): void => {
    cancel = timers.after(USAGE_LOSS_MS_MAX, () => {
      const flushed = book.flush().catch(failed)
      void flushed.then(() => (closing === undefined ? later() : undefined))
    })
  }
  later()
  const close = async (): Promise<void> => {
    cancel()
    await book.flush().catch(failed)
    await store.close()
  }
  return {
    bounds: book.bounds,
    identify: (authorization) => book.identify(authorization),
    admit: (key, expectedTokens) => book.admit(key, expectedTokens),
    allowances: (key) => book.allowances(key),
    create: (wanted) => book.create(wanted),
    change: (id, by, to) => book.change(id, by, to),
    revoke: (id, by) => book.revoke(id, by),
    list: (by) => book.list(by),
    usedToday: (owner) => book.usedToday(owner),
    close: () => {
      closing ??= close()
      return closing
    },
  }
}
