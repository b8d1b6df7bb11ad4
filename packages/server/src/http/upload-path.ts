/** Where files are uploaded, each with one request. */
export const UPLOAD_PATH = '/api/upload'
