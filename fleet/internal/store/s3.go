package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// bucket is a prefix in a bucket of S3, or of a service that speaks its protocol.
type bucket struct {
	client       *minio.Client
	name, prefix string
}

// openBucket opens BUCKET/PREFIX. It reads the environment variables of Amazon's tools:
// https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html.
func openBucket(ctx context.Context, location string) (files, error) {
	name, prefix, _ := strings.Cut(location, "/")
	if name == "" {
		return nil, errs.New(errs.FleetStoreInvalid, "the location s3://%s has no bucket", location)
	}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	server, err := url.Parse(endpoint)
	if err != nil || server.Scheme != "http" && server.Scheme != "https" || server.Host == "" || strings.Trim(server.Path, "/") != "" {
		return nil, errs.New(errs.FleetStoreInvalid, "%q is not http://HOST or https://HOST of an S3 service", endpoint)
	}
	client, err := minio.New(server.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
		Secure:     server.Scheme == "https",
		Region:     cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		MaxRetries: 3, // Activities are repeated for longer.
	})
	if err != nil {
		return nil, errs.New(errs.FleetStoreInvalid, "%q is not an S3 service: %w", endpoint, err)
	}
	exists, err := client.BucketExists(ctx, name)
	if err == nil && !exists {
		err = fmt.Errorf("%s has no bucket %q", server.Host, name)
	}
	return &bucket{client, name, prefix}, err
}

func (b *bucket) write(ctx context.Context, name string, data []byte) error {
	_, err := b.client.PutObject(ctx, b.name, path.Join(b.prefix, name), bytes.NewReader(data), int64(len(data)),
		minio.PutObjectOptions{ContentType: "application/gzip", DisableMultipart: true})
	return err
}

func (b *bucket) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	object, err := b.client.GetObject(ctx, b.name, path.Join(b.prefix, name), minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	defer object.Close()
	data, err := safefile.ReadAll(object, limit)
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return nil, errMissing
	}
	return data, err
}
