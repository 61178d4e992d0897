import { CHAT_FAULTS } from './chat-faults.ts'
import { type FaultRow, later, sender, unblamed } from './fault-row.ts'
import { LEDGER_FAULTS } from './ledger-faults.ts'
import { MARKET_FAULTS } from './market-faults.ts'
import { MINING_FAULTS } from './mining-faults.ts'
import { NETWORK_FAULTS } from './network-faults.ts'
import { OUTSIDE_FAULTS } from './outside-faults.ts'

/** The one table of everything that can be refused, by code: see {@link FaultRow}. */
export const FAULT_TABLE = {
  'amount/not-decimal': sender('invalid_amount', 400, '"{text}" is not a plain decimal number'),
  'amount/too-many-decimals': sender('invalid_amount', 400, '"{text}" has more than {decimals} decimals'),
  'amount/too-large': sender('invalid_amount', 400, '"{text}" is more than there can be of any asset'),

  'address/malformed': sender('invalid_address', 400, '"{text}" is not an address: {reason}'),
  'address/other-network': sender(
    'invalid_address',
    400,
    'the address begins with {got}, this network uses {expected}',
  ),

  'key/words-invalid': sender('invalid_words', 400, 'these are not 24 valid words: {reason}'),
  'key/malformed': sender('invalid_key', 400, 'malformed public keys: {reason}'),

  'codec/malformed': sender('malformed_bytes', 400, 'malformed {type}: {reason}'),

  'tx/too-large': sender('transaction_malformed', 400, 'the transaction has {bytes} bytes, allowed are {bytesMax}'),
  'tx/version': sender('transaction_malformed', 400, 'unknown transaction version {version}'),
  'tx/chain-id': sender('wrong_chain', 400, 'the transaction is for chain {chainId}, this is chain {expected}'),
  'tx/kind': sender('transaction_malformed', 400, 'unknown transaction kind {kind}'),
  'tx/payload': sender('transaction_malformed', 400, 'malformed payload of {kind}: {reason}'),
  'tx/amount': sender('transaction_malformed', 400, '{field} is {value}; allowed is {least} to below 2^112'),
  'tx/field': sender('transaction_malformed', 400, '{field}: {reason}'),
  'tx/keys-misplaced': sender(
    'transaction_malformed',
    400,
    'the witness carries the public keys if and only if the nonce is 0',
  ),
  'tx/signature-count': sender(
    'transaction_malformed',
    400,
    'the witness holds {count} signatures, the policy wants {expected}',
  ),
  'tx/signature-order': sender(
    'transaction_malformed',
    400,
    'signature key indices must be strictly increasing and below {keys}',
  ),
  'tx/signature-length': sender(
    'transaction_malformed',
    400,
    'signature {index} has {bytes} bytes, its scheme has {expected}',
  ),
  'tx/keys-not-of-sender': sender('bad_signature', 400, 'the public keys do not hash to the sender address'),
  'tx/bad-signature': sender('bad_signature', 400, 'a signature does not verify'),
  'tx/keys-missing': later(
    'keys_unknown',
    409,
    'the public keys of the sender are not known here yet; send its first transaction (nonce 0) first, or, if that is mined and this node began from a snapshot without them, send this one through another node: the block that mines it brings the keys here too',
  ),
  'tx/json': sender('invalid_request', 400, '{field}: {reason}'),

  'tx/sender-unknown': later('insufficient_balance', 409, 'the sender has no account and so cannot pay the fee'),
  'tx/nonce-too-low': sender('nonce_too_low', 409, 'nonce {nonce} is used; the next nonce is {next}'),
  'tx/nonce-too-high': later('nonce_too_high', 409, 'nonce {nonce} is too far ahead; the next nonce is {next}'),
  'tx/expired': sender('transaction_expired', 409, 'validUntil {validUntil} lies before the next block {height}'),
  'tx/fee-rate-below-base': later(
    'fee_too_low',
    409,
    'the transaction pays a fee of at most {feeText}; a block takes at least {leastText} for it now',
  ),
  'tx/fee-unpayable': later(
    'insufficient_balance',
    409,
    'the balance of {balanceText} does not pay the fee of {feeText}',
  ),

  ...LEDGER_FAULTS,

  'block/malformed': sender('block_malformed', 400, 'malformed block: {reason}'),
  'block/too-large': sender('block_invalid', 400, 'the transactions have {bytes} bytes, allowed are {bytesMax}'),
  'block/version': sender('block_invalid', 400, 'unknown header version {version}'),
  'block/height': sender('block_invalid', 400, 'the height is {height}, the parent makes it {expected}'),
  'block/target': sender('block_invalid', 400, 'the target differs from the computed one'),
  'block/time-not-after-parent': sender('block_invalid', 400, "the time {time} is not after the parent's {parentTime}"),
  'block/time-too-new': later(
    'block_early',
    409,
    'the time {time} is more than {aheadMsMax} ms ahead of the local clock',
  ),
  'block/base-fee': sender('block_invalid', 400, 'the base fee is {baseFee}, the parent makes it {expected}'),
  'block/history-root': sender('block_invalid', 400, 'the history root differs from the computed one'),
  'block/proof-of-work': sender('block_invalid', 400, 'the proof-of-work hash is above the target'),
  'block/transactions-root': sender('block_body_mismatch', 400, 'the transactions do not match the header'),
  'block/witness-root': sender('block_body_mismatch', 400, 'the witnesses do not match the header'),
  'block/duplicate-transaction': sender('block_invalid', 400, 'transaction {txId} is in the block twice'),
  'block/weight-limit': sender('block_invalid', 400, 'the weight {weight} exceeds {weightMax}'),
  'block/writes-limit': sender('block_invalid', 400, 'the declared state writes {writes} exceed {writesMax}'),
  'block/weight-used': sender('block_invalid', 400, 'the header says weight {said}, the transactions weigh {weight}'),
  'block/transaction': sender('block_invalid', 400, 'transaction {index} is invalid: {reason}'),
  'block/receipts-root': sender('block_invalid', 400, 'the receipts root differs from the computed one'),
  'block/state-root': sender('block_invalid', 400, 'the state root differs from the computed one'),

  'chain/unknown-parent': later('unknown_parent', 409, 'the parent {parent} is not known here'),
  'chain/known-block': unblamed('known_block', 409, 'the block {id} is known already'),
  'chain/invalid-ancestor': sender(
    'block_invalid',
    400,
    'the block {id} is known to be invalid, and so is what builds on it',
  ),
  'chain/reorganisation-too-deep': unblamed(
    'reorganisation_too_deep',
    409,
    'the heavier branch forks {depth} blocks back; beyond {depthMax} the operator must accept it',
  ),
  'chain/fork-too-deep': unblamed(
    'fork_too_deep',
    409,
    'the branch of the block forks {depth} blocks back; beyond {depthMax} nothing can be unwound and no branch is kept',
  ),
  'chain/keys-missing': later('keys_unknown', 503, 'the public keys of {address} are missing here'),
  'chain/head-moving': later(
    'head_moving',
    503,
    'the head moved {tries} times while this was read; the same request works in a moment',
  ),
  'chain/branch-too-light': later(
    'branch_too_light',
    409,
    'the block is off the best chain and its branch has far less work; it is taken when the work of the whole branch is shown',
  ),
  'chain/snapshot-too-light': later(
    'snapshot_unserved',
    503,
    'the block at height {height} whose state is offered has no more work than the best chain; it is not followed',
  ),
  'chain/state-unproven': later(
    'snapshot_unserved',
    503,
    'what lies on the disk was not found to be the state of the block at height {height}; it is given up and fetched again',
  ),
  'chain/unverified': later('node_busy', 503, 'the signatures of the block could not be checked just now: {reason}'),
  'chain/stopped': later('node_stopping', 503, 'the node is stopping'),

  'mempool/known': unblamed('transaction_known', 200, 'the transaction is in the mempool already'),
  'mempool/mined': unblamed('transaction_mined', 409, 'the transaction is mined already'),
  'mempool/full': later('mempool_full', 503, 'the mempool is full; a fee rate above {minFeeRate} would be accepted'),
  'mempool/account-limit': later(
    'account_limit',
    429,
    'the account has {count} transactions waiting; {countMax} are allowed',
  ),
  'mempool/account-unpaid': later(
    'account_limit',
    429,
    'the account has had {countMax} transactions taken in that are not mined; {perBlock} more are with every block',
  ),
  'mempool/fee-too-low': sender(
    'fee_too_low',
    409,
    'the fee of {feeText} is too low; at least {leastText} is accepted for this transaction',
  ),
  'mempool/replacement-fee-too-low': sender(
    'replacement_fee_too_low',
    409,
    'replacing the waiting transaction takes a fee of at least {leastText}, and a tip of at least {tipText}',
  ),
  'mempool/balance-exceeded': later(
    'insufficient_balance',
    409,
    'this and what waits before it need {neededText}, the balance is {balanceText}',
  ),
  'mempool/busy': later(
    'node_busy',
    503,
    'too many transactions wait for verification, or a reorganisation is under way',
  ),

  'mempool/unverified': later('node_busy', 503, 'the signature could not be checked just now: {reason}'),

  ...NETWORK_FAULTS,
  ...MINING_FAULTS,

  ...MARKET_FAULTS,
  ...OUTSIDE_FAULTS,
  ...CHAT_FAULTS,

  'rpc/malformed-json': sender('malformed_json', 400, 'the body is not JSON: {reason}'),
  'rpc/invalid-request': sender('invalid_request', 400, 'the request cannot be used: {fields}'),
  'rpc/unsupported-network': sender('unsupported_network', 400, 'net is {net}; supported is {supported}'),
  'rpc/media-type': sender(
    'unsupported_media_type',
    415,
    'the content type {contentType} is not read here; send application/json',
  ),
  'rpc/body-too-large': sender('body_too_large', 413, 'the body exceeds {limitBytes} bytes'),
  'rpc/too-many-values': sender(
    'too_many_values',
    413,
    'the body has more than {valuesMax} values or {namesMax} different names, a name of more than 1024 characters, or is mostly blanks and quotes',
  ),
  'rpc/unreadable': sender('unreadable_request', 400, 'this is no HTTP request: {reason}'),
  'rpc/headers-too-large': sender('headers_too_large', 431, 'the headers exceed {limitBytes} bytes'),
  'rpc/receive-timeout': later('request_timeout', 408, 'the request did not arrive in time'),
  'rpc/unauthorized': sender('unauthorized', 401, 'this is for the operator: send the token of operator.token'),
  'rpc/foreign-origin': sender(
    'forbidden_origin',
    403,
    'pages of {origin} may not call this node; its operator can list them in mcp.allowed-origins',
  ),
  'rpc/foreign-host': sender(
    'forbidden_host',
    403,
    'this node listens for its own machine only, and is not called {host}; its operator can name it in rpc.public-url',
  ),
  'rpc/not-found': sender('not_found', 404, 'there is nothing at {path}; GET /openapi.json says what there is'),
  'rpc/near-path': sender('not_found', 404, 'there is nothing at {path}; did you mean {meant}?'),
  'rpc/method-not-allowed': sender('method_not_allowed', 405, '{method} is not served at {path}; served: {allowed}'),
  'rpc/rate-limited': later('rate_limited', 429, 'too many requests; try again in {seconds} s'),
  'rpc/too-many-at-once': later(
    'too_many_at_once',
    429,
    'too many requests of this address, of its network, or of one connection, are under way; try again in {seconds} s',
  ),
  'rpc/too-many-streams': later('too_many_streams', 429, 'too many streams of events are open'),
  'rpc/busy': later('node_busy', 503, 'too many requests at once'),
  'rpc/internal': unblamed('internal_error', 500, 'an error of this node; its log has it under the request id'),
  'rpc/block-not-found': sender('block_not_found', 404, 'there is no block {id} here'),
  'rpc/request-not-found': sender('request_not_found', 404, 'no paid call with the payment {txId} is known here'),
  'rpc/asset-not-found': sender('asset_not_found', 404, 'there is no asset {symbol} here'),
  'rpc/pool-not-found': sender('pool_not_found', 404, 'there is no pool {pool} here'),
  'rpc/agent-not-found': sender('agent_not_found', 404, 'there is no agent {agentId} here'),
  'rpc/bridge-network-not-found': sender(
    'bridge_network_not_found',
    404,
    'the bridge has no network {network}; there are: {networks}',
  ),
  'rpc/withdrawal-not-found': sender('withdrawal_not_found', 404, 'there is no withdrawal {id} here'),
  'rpc/no-market': unblamed('market_disabled', 503, 'this node sells no services'),

  'config/unknown-key': sender(
    'config_unknown_key',
    400,
    '{key} in the {source} is nothing that this command knows; did you mean {suggestion}?',
  ),
  'config/value': sender('config_value', 400, '{key} is "{value}"; allowed: {allowed}'),
  'config/file': sender('config_file', 400, 'the file {path} cannot be used: {reason}'),
  'cli/usage': sender('usage', 400, '{reason}'),
  'cli/node-unreachable': later('node_unreachable', 503, 'no node answers at {url}{advice}'),
  'cli/refused': unblamed('refused', 400, 'the node refused: {message}'),
  'cli/price-too-high': unblamed('price_too_high', 400, 'the price is {price}, your limit is {limit}; see --max-price'),
  'cli/fee-too-high': unblamed(
    'fee_too_high',
    400,
    'the fee could come to {fee} at the rates that the node suggests, the limit is {limit}; see --max-fee',
  ),
  'cli/transaction-failed': unblamed(
    'transaction_failed',
    409,
    'the transaction {txId} was mined at height {height} and failed with {outcome}; only its fee of {fee} was charged',
  ),
  'cli/impact': sender(
    'impact',
    409,
    'this pays {impact} less than the listed prices of its pools: nothing was sent; trade less, or say --accept-impact',
  ),
  'cli/worse-route': sender(
    'worse_route',
    409,
    'this pays {impact} less than the best route: nothing was sent; leave --route out, or say --accept-impact',
  ),
  'cli/far-price': sender(
    'far_price',
    409,
    'the price of the pool lies {distance} from the known one: nothing was sent; change the amounts or wait, or say --accept-impact',
  ),
  'cli/loss': sender(
    'loss',
    409,
    'this is worth {brings} and its fee is {costs}: nothing was sent; wait, make it larger, or say --accept-loss',
  ),
  'cli/ended': unblamed('ended', 499, 'the client was ended'),
  'cli/declined': sender('declined', 409, 'nothing was sent'),
  'cli/not-possible': unblamed('not_possible', 409, 'nothing was sent: {reason}'),
  'cli/not-sent': unblamed('not_sent', 409, 'this would fail with {reason}; it was not sent, so it costs nothing'),
  'cli/would-fail': unblamed('would_fail', 409, 'this would fail with {reason}; its fee of {fee} would be charged'),
  'cli/would-not-mine': unblamed(
    'would_not_mine',
    409,
    'no block could hold this now: {reason}; nothing would be charged',
  ),
  'cli/not-mined-yet': later(
    'not_mined_yet',
    503,
    'whether {txId} was mined is not known yet, and blocks to height {validUntil} can hold it; look before you send it again: npx --no farthing tx {txId}{flags}',
  ),
  'cli/sent-blind': later(
    'sent_blind',
    503,
    'no answer to {txId}: it may have arrived, and blocks to height {validUntil} can hold it; look before you send it again: npx --no farthing tx {txId}{flags}',
  ),
  'cli/expired': unblamed(
    'transaction_expired',
    409,
    'the transaction {txId} was not mined up to height {validUntil}, the last that could hold it, and the node is at {height}; nothing was charged',
  ),
  'wallet/exists': sender(
    'wallet_exists',
    409,
    'there is a wallet named {name} at {path}; choose another name with --wallet',
  ),
  'wallet/missing': sender(
    'wallet_missing',
    404,
    'there is no wallet named {name} at {path}; make one with: npx --no farthing wallet new --wallet {name}{flags} (npx --no farthing init{flags} brings the funded ones of the devnet)',
  ),
  'wallet/passphrase': sender('wallet_passphrase', 400, 'the passphrase does not open the wallet {path}'),
  'wallet/passphrase-needed': sender(
    'wallet_passphrase_needed',
    400,
    'the wallet needs a passphrase: set wallet.passphrase-file or run on a terminal',
  ),
  'wallet/damaged': unblamed('wallet_damaged', 500, 'the wallet file {path} is damaged: {reason}'),
  'call/damaged': unblamed('call_damaged', 500, 'the kept call {path} is damaged: {reason}'),
  'file/unreadable': sender('file_unreadable', 400, '{path} cannot be read: {reason}'),
  'file/unwritable': sender('file_unwritable', 400, '{path} cannot be written: {reason}'),
  'rpc/port-taken': unblamed(
    'port_taken',
    503,
    'port {port} on {host} is taken; stop what uses it or choose another with --rpc-port',
  ),
  'rpc/address-unusable': unblamed('address_unusable', 503, 'cannot listen on {host}:{port}: {reason}'),

  'storage/locked': unblamed(
    'storage_locked',
    503,
    'the data folder {folder} is in use by another process; stop it or choose another with --data-dir',
  ),
  'storage/other-genesis': unblamed(
    'storage_other_network',
    503,
    'the data folder {folder} belongs to {found}, not to {expected}; choose another with --data-dir',
  ),
  'storage/other-schema': unblamed(
    'storage_schema',
    503,
    'the data folder {folder} has schema {found}, this release reads {expected}; use the release that wrote it, or choose another with --data-dir',
  ),
  'storage/other-rules': unblamed(
    'storage_rules',
    503,
    'the chain in the data folder {folder} stands at height {height}, past a height from which this release has other rules than the one that wrote it; move chain and network.json in it away, and the chain is fetched anew',
  ),
  'storage/stale-indexes': unblamed(
    'storage_indexes',
    503,
    'the indexes of the data folder {folder} are unfinished or those of another release; rebuild them with: npx --no farthing reindex{flags}',
  ),
  'storage/pruned': unblamed(
    'pruned',
    410,
    'this node does not hold what was in block {height}: it has bodies from height {bodiesFrom} on and witnesses from {witnessesFrom} on; ask a node that keeps more',
  ),
  'storage/past-unknown': unblamed(
    'pruned',
    410,
    'this node knows what came of blocks from height {from} on, since it began from a snapshot or made its indexes anew; ask a node that executed all of them',
  ),
  'storage/not-initialised': unblamed(
    'storage_missing',
    503,
    'the data folder {folder} holds no chain; make one with: npx --no farthing init{flags}',
  ),
  'storage/damaged': unblamed(
    'storage_damaged',
    503,
    'the data folder {folder} is damaged: {reason}; restore a backup or begin with an empty folder',
  ),
  'storage/full': unblamed(
    'storage_full',
    503,
    'the disk of {folder} is full or failing: {reason}; free some space and start again',
  ),
} as const satisfies Record<string, FaultRow>

/** Every internal fault code, `area/what-is-wrong`. */
export type FaultCode = keyof typeof FAULT_TABLE
