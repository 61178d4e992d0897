import { createHash } from 'node:crypto'
import { access, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { fieldsOf } from '../../rpc/client/http.ts'
import { createFileAtomically } from '../storage/atomic-file.ts'
import type { CommandContext } from './command.ts'
import { givenFlags } from './place.ts'
import { usage } from './values.ts'

const STANDARD_INPUT = '-'
/** Characters of a request that an error repeats. */
const SHOWN_CHARS_MAX = 60

/** Flags of the commands that send a request to a service and may receive a file. */
export const FILE_FLAGS = {
  'request-file': 'File with the request, in place of the word; - is standard input',
  save: 'Write the file that the result holds (a PDF, a picture) to this new file; one that exists is never overwritten',
}

/** Wrong use of words and files is refused before a node is asked. */
export async function withRequest(context: CommandContext): Promise<Result<CommandContext>> {
  const { flags, words } = context
  const file = flags['request-file']
  if (file !== undefined && words.length !== 1)
    return usage('a request is a word or in --request-file, behind its service')
  const slip = file === undefined ? await fileSlip(words[1]) : null
  if (slip !== null) return usage(slip)
  const unfit = flags.save === undefined ? null : await reasonNotToSave(flags.save)
  if (unfit !== null) return fail(unfit)
  if (file === undefined) return ok(context)
  const request = await readRequestFile(file)
  return request.ok ? ok({ ...context, words: [...words, request.value] }) : request
}

/** The text of a request from a file, or from standard input for `-`. A final line end is dropped. */
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

/**
 * Why a request looks like the name of a file: the user most likely means the content, but would pay for sending the name. Null if it is a
 * plain request.
 */
async function fileSlip(request = ''): Promise<string | null> {
  const meant = request.startsWith('@') ? request.slice(1) : request
  const shown = request.slice(0, SHOWN_CHARS_MAX)
  if (request === STANDARD_INPUT || (meant !== request && meant !== '' && (await isThere(meant))))
    return `"${shown}" would be the request itself: say${fileFlag(meant)}`
  if (!/[/\\.]/.test(request) || !(await isFile(request))) return null
  return `"${shown}" is a file here: say${fileFlag(request)} to send what is in it; its name alone is sent from standard input, by --request-file -`
}

function fileFlag(path: string): string {
  return givenFlags({ flags: { 'request-file': path } }, ['request-file'])
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Why a new file cannot be written at this path, found before a call is paid. Null if it can. */
export async function reasonNotToSave(path: string): Promise<Fault | null> {
  if (await isThere(path)) return unwritable(path, 'there is such a file; it stays as it is, name another')
  return (await isThere(dirname(path))) ? null : unwritable(path, 'there is no such folder')
}

/**
 * Writes the base64 file in a result to a new file, and returns its size in bytes. If the result names a SHA-256, the
 * file must match it.
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
