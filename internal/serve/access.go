package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"assay/internal/doc"
	"assay/internal/report"
)

// MinToken is how many bytes a token has at least.
const MinToken = 16

// CheckAddress refuses an address that others can reach, unless everybody needs a
// token there.
func CheckAddress(address, token string) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("--addr %s: want HOST:PORT, such as 127.0.0.1:7070", address)
	}
	if token == "" && !isLoopback(host) {
		return fmt.Errorf("--addr %s can be reached from other machines: give a --token-file, or an address such as 127.0.0.1:7070", address)
	}
	if token != "" && len(token) < MinToken {
		return fmt.Errorf("the token has %d bytes, and needs at least %d", len(token), MinToken)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// localNames returns what a browser may call a server on this machine. Another name is
// one that somebody else's DNS points here.
func localNames(address net.Addr) []string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return []string{address.String()}
	}
	var names []string
	for _, name := range []string{host, "localhost", "127.0.0.1", "::1"} {
		whole := net.JoinHostPort(name, port)
		names = append(names, whole, strings.TrimSuffix(whole, ":80")) // browsers leave out the port of HTTP
	}
	return names
}

// guarded refuses requests that no page of this server and no reader of it makes,
// and tells browsers what pages may do.
func (s *server) guarded(next http.Handler) http.Handler {
	policy := doc.NewHead("", "", "'self'", nil, report.Script).Policy + "; frame-ancestors 'none'" // all pages have one style sheet
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if err := s.checkSource(r); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if !s.knows(r) {
			h.Set("WWW-Authenticate", `Basic realm="assay", charset="UTF-8"`)
			http.Error(w, "give the token of assay serve as the password, with any user name", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkSource refuses what comes by another name, and from pages of others.
func (s *server) checkSource(r *http.Request) error {
	if len(s.hosts) > 0 && !slices.Contains(s.hosts, strings.ToLower(r.Host)) {
		return errors.New("this server does not go by that name: open it by its address")
	}
	if origin := r.Header.Get("Origin"); origin != "" && !strings.EqualFold(origin, "http://"+r.Host) && !strings.EqualFold(origin, "https://"+r.Host) {
		return errors.New("the request comes from a page of another server")
	}
	site := r.Header.Get("Sec-Fetch-Site") // a program, which no page controls, sends none
	opened := r.Method == http.MethodGet && (site == "none" || r.Header.Get("Sec-Fetch-Dest") == "document")
	if site != "" && site != "same-origin" && !opened {
		return errors.New("the request comes from a page of another server")
	}
	return nil
}

// knows reports whether a request has the token, where one is needed.
func (s *server) knows(r *http.Request) bool {
	if s.Token == "" {
		return true
	}
	_, given, basic := r.BasicAuth()
	if !basic {
		scheme, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return false
		}
		given = strings.TrimSpace(credentials)
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
