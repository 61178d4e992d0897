import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromHex, isHex, isHexBytes, toHex } from '../../consensus/primitives/bytes.ts'
import { fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { decodeTransaction, encodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { writeFileAtomically } from '../storage/atomic-file.ts'
import { folderPaths } from '../storage/folder.ts'

/** A paid call, kept on disk before the payment is sent: without the secret the caller could not fetch the answer. */
export interface CallRecord {
  readonly tx: Transaction
  readonly secret: Uint8Array
  readonly serviceId: string
  readonly request: string
  readonly quote: Readonly<Record<string, unknown>>
}

const PRIVATE_MODE = 0o600

/** Only the user who runs the command can read the file. */
export async function saveCall(dataDir: string, { tx, secret, serviceId, request, quote }: CallRecord): Promise<void> {
  const { calls } = folderPaths(dataDir)
  await mkdir(calls, { recursive: true, mode: 0o700 })
  const json = { serviceId, request, secret: toHex(secret), tx: toHex(encodeTransaction(tx)), quote }
  await writeFileAtomically(join(calls, `${tx.txId}.json`), `${JSON.stringify(json)}\n`, PRIVATE_MODE)
}

/** Finds a saved call by its payment. */
export async function loadCall(dataDir: string, txId: string): Promise<Result<CallRecord>> {
  const unknown = fail(
    fault('cli/usage', {
      reason: `no call with the payment ${txId.slice(0, 70)} is kept in ${folderPaths(dataDir).calls}`,
    }),
  )
  if (!isHex(txId, 32)) return unknown
  const path = join(folderPaths(dataDir).calls, `${txId}.json`)
  const content = await readFile(path, 'utf8').catch(() => null)
  return content === null ? unknown : readRecord(path, txId, content)
}

function readRecord(path: string, txId: string, content: string): Result<CallRecord> {
  const damaged = (reason: string): Result<never> => fail(fault('call/damaged', { path, reason }))
  try {
    const json = JSON.parse(content) as Readonly<Record<string, unknown>>
    const { serviceId, request, secret, tx: hex, quote } = json
    if (typeof serviceId !== 'string' || typeof request !== 'string') return damaged('the call is missing')
    if (typeof secret !== 'string' || !isHex(secret, 32)) return damaged('the secret is missing')
    if (typeof hex !== 'string' || !isHexBytes(hex)) return damaged('the payment is missing')
    const tx = decodeTransaction(fromHex(hex))
    if (!tx.ok) return damaged(faultMessage(tx.fault))
    if (tx.value.txId !== txId) return damaged('it holds another payment')
    return ok({ tx: tx.value, secret: fromHex(secret), serviceId, request, quote: quote as CallRecord['quote'] })
  } catch {
    return damaged('it is not JSON')
  }
}
