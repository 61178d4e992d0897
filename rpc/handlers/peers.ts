import { fault } from '../../consensus/primitives/fault.ts'
import type { Result } from '../../consensus/primitives/result.ts'
import type { BAN, PEER } from '../contract/peers.ts'
import { BAN_HOURS } from '../contract/peers.ts'
import type { Static } from '../contract/schema.ts'
import { moment } from '../json/chain-json.ts'
import type { BanFacts, PeerFacts } from '../node/network.ts'
import { answer, type Handler } from '../server/answer.ts'

/** The route is public, so only the operator sees addresses. */
export const listPeers: Handler<'listPeers'> = ({ network = null }, { isOperator }) =>
  answer({
    enabled: network !== null,
    peers: (network?.peers() ?? []).map((peer) => peerJson(peer, isOperator)),
    bans: network?.bans().length ?? 0,
  })

/** The bans in force. */
export const listBans: Handler<'listBans'> = ({ network = null }) =>
  network === null ? fault('p2p/disabled') : answer({ bans: network.bans().map(banJson) })

/** Bans a peer or an IP address. */
export const banPeer: Handler<'banPeer'> = ({ network = null }, { body }) => {
  if (network === null) return fault('p2p/disabled')
  const { peer, ip, hours = BAN_HOURS } = body
  const target = peer ?? ip
  if (target === undefined || (peer !== undefined && ip !== undefined))
    return fault('rpc/invalid-request', { fields: ['one of peer and ip must be given, and not both'] })
  return banAnswer(network.ban(target, hours))
}

/** Ends a ban. */
export const unbanPeer: Handler<'unbanPeer'> = ({ network = null }, { params }) =>
  network === null ? fault('p2p/disabled') : banAnswer(network.unban(params.peer))

function banAnswer(result: Result<BanFacts>) {
  return result.ok ? answer(banJson(result.value)) : result.fault
}

function peerJson(peer: PeerFacts, withAddress: boolean): Static<typeof PEER> {
  const { address, totalWork, connectedAtMs, points, offences, ...facts } = peer
  return {
    ...facts,
    address: withAddress ? address : null,
    totalWork: totalWork.toString(),
    connectedSince: moment(connectedAtMs),
    points: Math.round(points),
    misbehaviour: offences,
  }
}

function banJson({ target, reason, sinceMs, untilMs }: BanFacts): Static<typeof BAN> {
  return { target, reason, since: moment(sinceMs), until: moment(untilMs) }
}
