const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
}

/** Why a file of the operator cannot be read, from the error. */
export function whyUnread(error: unknown): string {
  const { code = '' } = error as { readonly code?: string }
  return WORDS[code] ?? `it cannot be read${code === '' ? '' : ` (${code})`}`
}

/** The position of a JSON error. The text itself is not repeated, because it may hold secrets. */
export function whereNoJson(text: string, error: unknown): string {
  const said = error instanceof Error ? error.message : ''
  const named = /at position (\d+)/.exec(said)?.[1]
  const isEnd = said.startsWith('Unexpected end')
  const at = named !== undefined ? Number(named) : isEnd ? text.length : beforeToken(text)
  const lines = text.slice(0, at).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) as string).length + 1}`
}

/** The parser gives no position for an unexpected token. The shortest prefix with this error ends with that token. */
function beforeToken(text: string): number {
  let [well, ill] = [0, text.length]
  while (ill - well > 1) {
    const middle = Math.floor((well + ill) / 2)
    if (holdsToken(text.slice(0, middle))) ill = middle
    else well = middle
  }
  return Math.max(0, ill - 1)
}

function holdsToken(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    return error instanceof Error && error.message.startsWith('Unexpected token')
  }
}
