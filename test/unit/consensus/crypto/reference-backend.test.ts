import { REFERENCE_BACKEND } from '../../../../consensus/crypto/reference-backend.ts'
import { signatureBackendSuite } from '../../../contract/signature-backend.suite.ts'

signatureBackendSuite(REFERENCE_BACKEND)
