/** Sets what the HTTP library reads from the environment when it is loaded; imported before it, for that effect only. */
import { limits } from '../../limits/service.ts';

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(limits.headerBlockBytesMax);
