import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { OperatorClient } from '../../rpc/client/operator-client.ts'
import { folderPaths } from '../storage/folder.ts'
import { readOperatorToken } from '../storage/operator-token.ts'
import { type CommandContext, nodeUrl } from './command.ts'

/** The flag that names the token of the node's operator. */
export const TOKEN_FLAG = {
  'token-file':
    'File with the token of the operator; default: operator.token of the data folder, for a node on this machine',
}

/** The data folder's token is sent only to this machine, unless --token-file names it. */
export async function operatorClient(context: CommandContext): Promise<Result<OperatorClient>> {
  const url = nodeUrl(context)
  const named = context.flags['token-file']
  if (named === undefined && !isHere(url)) return ok(new OperatorClient(url, null))
  const token = await readOperatorToken(named ?? folderPaths(context.config.dataDir).operatorToken)
  if (token === undefined && named !== undefined)
    return fail(fault('file/unreadable', { path: named, reason: 'there is no token in it' }))
  return ok(new OperatorClient(url, token ?? null))
}

function isHere(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}
