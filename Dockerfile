# docker build -t mcprove . ; docker run --rm -v "$PWD:/work" mcprove run evals/
# The image has Node and Python, because that is what most servers are started with.
FROM rust:1-alpine AS build
RUN apk add --no-cache bash musl-dev gcc lld
WORKDIR /src
COPY . .
RUN cp "$(packaging/build.sh)/mcprove" /mcprove

FROM alpine:3
RUN apk add --no-cache nodejs npm python3 uv ca-certificates \
 && adduser -D mcprove
COPY --from=build /mcprove /usr/local/bin/mcprove
USER mcprove
WORKDIR /work
ENTRYPOINT ["mcprove"]
CMD ["--help"]
