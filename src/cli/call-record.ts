import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromHex, isHex, toHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { writeFileAtomically } from '../storage/atomic-file.ts'
import { folderPaths } from '../storage/folder.ts'

/** A paid call as it is kept on disk before the payment is sent: without the secret nobody could redeem it. */
export interface CallRecord {
  readonly tx: Transaction
  readonly secret: Uint8Array
  readonly serviceId: string
  readonly request: string
  readonly quote: Readonly<Record<string, unknown>>
}

const PRIVATE_MODE = 0o600

/** Keeps a call. */
export async function saveCall(dataDir: string, { tx, secret, serviceId, request, quote }: CallRecord): Promise<void> {
  const { calls } = folderPaths(dataDir)
  await mkdir(calls, { recursive: true, mode: 0o700 })
  const json = { serviceId, request, secret: toHex(secret), tx: toHex(encodeTransaction(tx)), quote }
  await writeFileAtomically(join(calls, `${tx.txId}.json`), `${JSON.stringify(json)}\n`, PRIVATE_MODE)
}

/** Finds a kept call by its payment. */
export async function loadCall(dataDir: string, txId: string): Promise<Result<CallRecord>> {
  const unknown = fail(
    fault('cli/usage', {
      reason: `no call with the payment ${txId.slice(0, 70)} is kept in ${folderPaths(dataDir).calls}`,
    }),
  )
  if (!isHex(txId, 32)) return unknown
  const content = await readFile(join(folderPaths(dataDir).calls, `${txId}.json`), 'utf8').catch(() => null)
  if (content === null) return unknown
  const json = JSON.parse(content) as {
    serviceId: string
    request: string
    secret: string
    tx: string
    quote: Record<string, unknown>
  }
  const tx = decodeTransaction(fromHex(json.tx))
  return tx.ok
    ? ok({
        tx: tx.value,
        secret: fromHex(json.secret),
        serviceId: json.serviceId,
        request: json.request,
        quote: json.quote,
      })
    : tx
}
