import { folderPaths } from '../../src/storage/folder.ts'
import { readOperatorToken } from '../../src/storage/operator-token.ts'
import type { RunningDaemon } from './daemon.ts'

/** Makes an API key over HTTP, as the daemon's operator. */
export async function keyOf({ url, dataDir }: Pick<RunningDaemon, 'url' | 'dataDir'>): Promise<string> {
  const token = await readOperatorToken(folderPaths(dataDir).operatorToken)
  const response = await fetch(`${url}/api/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ label: 'test' }),
  })
  const { secret } = (await response.json()) as { readonly secret?: string }
  if (secret === undefined) throw new Error(`no key was made: status ${response.status}`)
  return secret
}
