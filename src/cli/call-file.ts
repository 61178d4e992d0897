import { createHash } from 'node:crypto'
import { access, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import { createFileAtomically } from '../storage/atomic-file.ts'

const STANDARD_INPUT = '-'

/** Text of a request from a file, or from standard input by `-`; the line end behind its last line is no part of it. */
export async function readRequestFile(path: string): Promise<Result<string>> {
  try {
    const bytes = path === STANDARD_INPUT ? await readInput() : await readFile(path)
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, ''))
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is no text in UTF-8' : (error as Error).message
    return fail(fault('file/unreadable', { path, reason }))
  }
}

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** The file that a request names as other programs have it, `-` or `@` and a path that is there; null where it is the request itself. */
export async function fileMeant(request: string | undefined): Promise<string | null> {
  if (request === STANDARD_INPUT) return STANDARD_INPUT
  const path = request?.startsWith('@') ? request.slice(1) : ''
  return path !== '' && (await isThere(path)) ? path : null
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Why a new file cannot come to a path, found before anything is paid for it; null where it can. */
export async function reasonNotToSave(path: string): Promise<Fault | null> {
  if (await isThere(path)) return unwritable(path, 'there is such a file; it stays as it is, name another')
  return (await isThere(dirname(path))) ? null : unwritable(path, 'there is no such folder')
}

/**
 * Writes the file that a result holds in base64 to a new file and gives its number of bytes. It must have the SHA-256 that the
 * result says, where it says one.
 */
export async function saveResultFile(path: string, result: unknown): Promise<Result<number>> {
  const holder = [result, ...Object.values(fieldsOf(result))]
    .map(fieldsOf)
    .find((one) => typeof one.base64 === 'string')
  if (holder === undefined) return fail(unwritable(path, 'the result holds no file'))
  const bytes = bytesOf(holder.base64 as string)
  if (bytes === undefined) return fail(unwritable(path, 'the file of the result is no base64'))
  const { sha256 } = holder
  if (sha256 !== undefined && createHash('sha256').update(bytes).digest('hex') !== sha256)
    return fail(unwritable(path, 'the file of the result does not have the SHA-256 that the result says'))
  try {
    const isNew = await createFileAtomically(path, bytes)
    return isNew ? ok(bytes.length) : fail(unwritable(path, 'there is such a file by now; it stays as it is'))
  } catch (error) {
    return fail(unwritable(path, (error as Error).message))
  }
}

function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(base64)
  } catch {
    return undefined
  }
}

function unwritable(path: string, reason: string): Fault {
  return fault('file/unwritable', { path, reason })
}
