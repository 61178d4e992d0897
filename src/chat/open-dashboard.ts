import { createHash, timingSafeEqual } from 'node:crypto'
import type { Config } from '../../config/settings.ts'
import { verifyJob } from '../../consensus/crypto/verifier.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok } from '../../consensus/primitives/result.ts'
import {
  createDashboard,
  type DashboardApi,
  type OperatorSecret,
  type ProviderStanding,
} from '../../rpc/chat/dashboard/desk.ts'
import { NATIVE_BACKEND } from '../crypto/native-backend.ts'
import { systemClock } from '../daemon/runtime.ts'
import { folderPaths } from '../storage/folder.ts'
import { isPassword, readOperatorPassword } from '../storage/operator-password.ts'

/** Most passwords in check or waiting for it. Each check takes memory and a core for a while. */
const WAITING_MAX = 4

/** The operator signs in with the password, if one is set, else with the token of the data folder. */
export function openDashboard(
  { chat, dataDir }: Config,
  operatorToken: string,
  providers: () => readonly ProviderStanding[],
): DashboardApi {
  return createDashboard({
    clock: systemClock,
    wallets: chat.wallets,
    operator: operatorSecret(folderPaths(dataDir).operatorPassword, operatorToken),
    providers,
    verify: (job) => verifyJob(NATIVE_BACKEND, job),
  })
}

/** The file is read each time, so a new password is valid without a restart. */
function operatorSecret(path: string, token: string): OperatorSecret {
  let waiting = 0
  let turn: Promise<unknown> = Promise.resolve()
  const matches = async (text: string): Promise<boolean> => {
    const kept = await readOperatorPassword(path)
    if (kept === null) return timingSafeEqual(digest(text), digest(token))
    return kept !== 'damaged' && (await isPassword(text, kept))
  }
  return {
    stamp: async () => {
      const kept = await readOperatorPassword(path)
      return kept === null || kept === 'damaged' ? (kept ?? 'token') : kept.salt
    },
    matches: async (text) => {
      if (waiting >= WAITING_MAX) return fail(fault('rpc/busy', { seconds: 1 }))
      waiting += 1
      const mine = turn.then(() => matches(text))
      turn = mine.catch(() => {})
      try {
        return ok(await mine)
      } finally {
        waiting -= 1
      }
    },
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
