package plan
import ("testing";"os";"fmt")
func TestZZ(t *testing.T){
 b,_:=os.ReadFile("../plans/quick.yaml")
 p,err:=Decode("quick.yaml",b); if err!=nil{t.Fatal(err)}
 cs,err:=p.Expand(nil); fmt.Println(len(cs),err)
 for _,c:=range cs[:3]{fmt.Printf("%+v\n",c)}
 fmt.Printf("%+v\n",cs[len(cs)-1])
 s,err:=Schema(); fmt.Println(len(s),err); os.WriteFile("/tmp/p/schema.json",s,0o644)
}
