# Uploads a file: upload.sh FILE
curl -fsS -T "$1" "$UPLOAD_URL"
